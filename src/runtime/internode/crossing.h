// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A schedule that is under way between nodes, on a rank that speaks for its own: it goes on by
// advance() and never waits, so that the node can do something else meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "runtime/internode/leaders.h"
#include "runtime/internode/node_map.h"
#include "runtime/internode/traffic.h"
#include "runtime/memory/reduction.h"
#include "runtime/schedules/execution.h"
#include "runtime/schedules/in_pieces.h"
#include "runtime/schedules/schedule.h"
#include "runtime/schedules/wire.h"

namespace huddle::internode {

// Who speaks for each node.
struct Speakers {
  Leaders leaders;
  int leader = 0;      // the one of each node that has this one's slice
  int root_rank = -1;  // stands for its own node instead; -1: none does

  int rank(const NodeMap& map, int node) const {
    const bool is_root = root_rank >= 0 && map.node_of(root_rank) == node;
    return is_root ? root_rank : leaders.rank(node, leader);
  }
};

// Peers of a schedule are nodes, and each is stood for by one rank.
class ByNode : public net::Wire {
 public:
  // Keeps references.
  ByNode(net::Wire& by_rank, const NodeMap& map, Traffic* traffic, const Speakers& speakers)
      : by_rank_(by_rank), map_(map), traffic_(traffic), speakers_(speakers) {}

  Ticket send(int node, std::span<const std::byte> bytes) override {
    if (traffic_ != nullptr) traffic_->add(bytes.size());
    return by_rank_.send(speakers_.rank(map_, node), bytes);
  }
  Ticket receive(int node, std::span<std::byte> bytes) override {
    return by_rank_.receive(speakers_.rank(map_, node), bytes);
  }
  bool test(Ticket ticket) override { return by_rank_.test(ticket); }

 private:
  net::Wire& by_rank_;
  const NodeMap& map_;
  Traffic* traffic_;
  Speakers speakers_;
};

class Crossing {
 public:
  // piece_bytes: of what messages are cut into; 0: they go whole. Keeps references to the schedule
  // and what by_node refers to.
  Crossing(const net::Schedule& schedule, int node, const net::CallData& data,
           const memory::Reduction& reduction, const ByNode& by_node, std::size_t piece_bytes)
      : by_node_(by_node), execution_(schedule, node, data, reduction, wire(piece_bytes)) {}
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;

  // True: this rank's part is done.
  bool advance() { return execution_.advance(); }

 private:
  net::Wire& wire(std::size_t piece_bytes) {
    if (piece_bytes == 0) return by_node_;
    return in_pieces_.emplace(by_node_, piece_bytes);
  }

  ByNode by_node_;
  std::optional<net::InPieces> in_pieces_;
  net::Execution execution_;
};

}  // namespace huddle::internode
