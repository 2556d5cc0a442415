// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a rank has to send to one peer of an exchange, and to receive from one, and how far it is.
#pragma once

#include <algorithm>

#include "runtime/context/world.h"
#include "runtime/node/blocks.h"
#include "runtime/node/pair_plan.h"

namespace huddle::node {

// What is left of a block on its way to or from a peer.
struct PairStream {
  int peer = 0;
  Block block;
  std::size_t moved = 0;
  bool is_announced = false;
  bool is_unwanted = false;  // for its receiver expects another size

  std::size_t bytes_left() const { return block.bytes - moved; }
  std::size_t next_bytes(const PairPlan& plan) const {
    return is_announced ? bytes_left() : std::min(plan.tile_bytes, bytes_left());
  }
  std::size_t at() const { return static_cast<std::size_t>(block.offset) + moved; }
  // How many tiles came before the next one.
  world::Sequence tiles_moved(const PairPlan& plan) const {
    return static_cast<world::Sequence>((moved + plan.tile_bytes - 1) / plan.tile_bytes);
  }
  void start_again() {
    moved = 0;
    is_announced = false;
  }
};

// When a rank turns to both: to one peer, in most orders.
struct PairTurn {
  PairStream out;
  PairStream in;

  bool is_left() const { return out.bytes_left() > 0 || in.bytes_left() > 0; }
};

}  // namespace huddle::node
