// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Blocks that a rank exchanges with ranks of other nodes one by one, where only the two of a pair
// know how large they are: nothing is chosen by a size, and blocks of no bytes are not sent.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/internode/node_map.h"
#include "runtime/internode/pending_messages.h"
#include "runtime/internode/traffic.h"
#include "runtime/node/blocks.h"
#include "runtime/schedules/wire.h"

namespace huddle::internode {

class PairwiseExchange {
 public:
  struct Ends {
    net::Wire& wire;  // peers are ranks
    const NodeMap& map;
    int rank;
    Traffic* traffic;  // null: nobody wants to know
  };
  // A rank's blocks for the others and from them, by rank. Bytes and lists outlive the exchange.
  struct Data {
    const std::byte* input = nullptr;
    node::Blocks outgoing;
    std::byte* output = nullptr;
    node::Blocks incoming;
  };

  // With all ranks of other nodes. In place, what goes out is copied first.
  PairwiseExchange(const Ends& ends, const Data& data);
  // A block for that rank alone, or from it.
  static PairwiseExchange to_one(const Ends& ends, int peer, const std::byte* input,
                                 std::size_t bytes);
  static PairwiseExchange from_one(const Ends& ends, int peer, std::byte* output,
                                   std::size_t bytes);

  // Goes on as far as it can without waiting. True: all has been sent and received.
  bool advance();
  // Whether more came from a rank than there is room for; the rest of it is lost.
  bool is_truncated() const { return pending_.is_truncated(); }

 private:
  PairwiseExchange(const Ends& ends, const Data& data, int first_distance, int last_distance);
  bool is_on_other_node(int rank) const;
  int at_distance(int distance) const;
  void copy_outgoing();
  // What goes to the rank that is so far behind this one, and comes from the one as far before it.
  void start(int distance);

  Ends ends_;
  Data data_;
  std::vector<std::byte> copied_;  // what goes out, where it must not stay where it was
  std::vector<node::Block> copied_at_;
  int next_distance_;
  int last_distance_;
  PendingMessages pending_;
};

}  // namespace huddle::internode
