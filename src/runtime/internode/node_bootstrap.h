// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ranks of one node among others, over a wire, until they share memory: what their team is made
// from.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/schedules/operation.h"
#include "runtime/schedules/wire.h"
#include "runtime/team/bootstrap.h"

namespace huddle::internode {

class NodeBootstrap {
 public:
  // Keeps references. Peers of the wire are ranks; here: those of this node, of which this one is
  // at that place.
  NodeBootstrap(net::Wire& wire, std::span<const int> here, int place)
      : wire_(wire), here_(here), place_(place) {}

  int place() const { return place_; }
  int ranks() const { return static_cast<int>(here_.size()); }
  // Ranks are places there. It refers to this object.
  team::Bootstrap bootstrap();
  // From one place to all.
  void bcast(std::span<std::byte> bytes, int root = 0);

 private:
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
  void run(net::Operation operation, int root, std::size_t block_bytes, const std::byte* input,
           std::byte* output);

  net::Wire& wire_;
  std::span<const int> here_;
  int place_;
};

}  // namespace huddle::internode
