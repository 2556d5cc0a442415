// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ranks of one node among others, over a wire, until they share memory: what their team is made
// from.
#pragma once

#include <cstddef>
#include <span>

#include "internode/node_map.h"
#include "net/operation.h"
#include "net/wire.h"
#include "team/bootstrap.h"

namespace huddle::internode {

class NodeBootstrap {
 public:
  // Keeps references. Peers of the wire are ranks.
  NodeBootstrap(net::Wire& wire, const NodeMap& map, int rank);

  int place() const { return place_; }
  int ranks() const { return map_.ranks_on(node_); }
  // Ranks are places there. It refers to this object.
  team::Bootstrap bootstrap();
  // From one place to all.
  void bcast(std::span<std::byte> bytes, int root = 0);

 private:
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
  void run(net::Operation operation, int root, std::size_t block_bytes, const std::byte* input,
           std::byte* output);

  net::Wire& wire_;
  const NodeMap& map_;
  int node_;
  int place_;
};

}  // namespace huddle::internode
