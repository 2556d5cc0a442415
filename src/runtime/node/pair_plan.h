// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Parameters of an exchange between pairs: those fixed when its memory is laid out, and those that
// may differ between calls. Also the state of the streams between a rank and its peers.
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
  std::size_t tile_bytes = 16384;  // capacity of a cell
  int cells = 4;                   // per channel; a power of two, at least 2
  // Cache lines for flags per channel; a power of two, at least `cells`. With more lines, a sender
  // of small messages reads its receiver's progress less often; each read takes about as long as a
  // message.
  int lines = 8;
};

// Order in which a rank exchanges with its peers.
enum class PairOrder : std::uint8_t {
  // Both ranks of a pair exchange at the same time, so that blocks may be exchanged in place.
  paired,
  // Each rank sends to the rank k places after it and receives from the one k places before it.
  staggered,
  // Each rank fills the cells for all peers and continues with whichever peer is ready, so that it
  // does not wait for one while others can proceed. Also works in place.
  as_ready,
};

// Equal on all ranks, except for `results` and for the members marked Sender or Receiver, which
// each rank may choose for itself.
struct PairPlan {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  std::size_t tile_bytes = 16384;  // at most PairParameters::tile_bytes
  PairOrder order = PairOrder::paired;
  // For data sent in tiles. Ping-pong requires that both ranks of a pair send the same amount and
  // exchange at the same time; a rank that sends but receives nothing may prefetch.
  memory::CopyMethod method = {};
  memory::CopyKernel results = memory::CopyKernel::plain;  // kernel that writes the output
  // A rank that receives at least this many bytes in total writes the output non-temporally.
  std::size_t nontemporal_from = never;
  // Sender: range of block sizes in bytes that are announced for the receiver to read.
  std::size_t announced_from = never;
  std::size_t announced_up_to = never;
  // Receiver: range of block sizes in bytes that, if announced, are written by their senders.
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

// A block on its way to or from a peer.
struct PairStream {
  int peer = 0;
  Block block;
  std::size_t moved = 0;
  bool is_announced = false;
  bool is_unwanted = false;  // because its receiver expects another size

  std::size_t bytes_left() const { return block.bytes - moved; }
  std::size_t next_bytes(const PairPlan& plan) const {
    return is_announced ? bytes_left() : std::min(plan.tile_bytes, bytes_left());
  }
  std::size_t at() const { return static_cast<std::size_t>(block.offset) + moved; }
  // Returns the number of tiles moved so far.
  context::Sequence tiles_moved(const PairPlan& plan) const {
    return static_cast<context::Sequence>((moved + plan.tile_bytes - 1) / plan.tile_bytes);
  }
  void start_again() {
    moved = 0;
    is_announced = false;
  }
};

// A step in which a rank sends to a peer and receives from a peer; in most orders it is the same
// one.
struct PairTurn {
  PairStream out;
  PairStream in;

  bool is_left() const { return out.bytes_left() > 0 || in.bytes_left() > 0; }
};

}  // namespace huddle::node
