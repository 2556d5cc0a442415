// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How an exchange between pairs goes: what is settled when its memory is laid out, and what may
// differ from call to call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/blocks.h"

namespace huddle::node {

struct PairParameters {
  std::size_t tile_bytes = 16384;  // the most that a cell holds
  int cells = 4;                   // of a channel; a power of two, 2 or more
  // Of a channel, for flags; a power of two, not fewer than cells. With more of them a sender of
  // little asks less often how far its receiver is, which costs as much as what it sends.
  int lines = 8;
};

// In which order a rank meets the others.
enum class PairOrder : std::uint8_t {
  // Both of a pair turn to each other at the same time: blocks may be exchanged in place.
  paired,
  // Each sends to the next but so many, and receives from the one before by as many.
  staggered,
  // Each fills the cells for everybody, and goes on with whichever peer is ready: nobody waits
  // for one while others have something. In place, too.
  as_ready,
};

// Equal on all ranks but for what is the sender's own matter.
struct PairPlan {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  std::size_t tile_bytes = 16384;  // not over that of the parameters
  PairOrder order = PairOrder::paired;
  // Of what comes in tiles: ping-pong, where what a pair exchanges is equal both ways, which turn
  // to each other at the same time; prefetched by whoever gets nothing for what it sends.
  memory::CopyMethod method = {};
  memory::CopyKernel results = memory::CopyKernel::plain;  // by which they are written...
  std::size_t past_caches_from = never;  // ...and past the caches where a rank gets so much
  // The sender's: blocks of so many bytes are announced, for the receiver to read.
  std::size_t announced_from = never;
  std::size_t announced_up_to = never;
  // The receiver's: of those that are announced, blocks of so many bytes are written by their
  // senders.
  std::size_t written_from = never;
  std::size_t written_up_to = never;

  bool announces(std::size_t bytes) const {
    return announced_from <= bytes && bytes <= announced_up_to;
  }
  bool has_written(std::size_t bytes) const {
    return written_from <= bytes && bytes <= written_up_to;
  }
  bool returns() const { return method->ownership == memory::LineOwnership::ping_pong; }
};

// What a rank has to send to one peer of an exchange, and to receive from one, and how far it is.

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
  context::Sequence tiles_moved(const PairPlan& plan) const {
    return static_cast<context::Sequence>((moved + plan.tile_bytes - 1) / plan.tile_bytes);
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
