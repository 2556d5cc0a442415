// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A scan as a relay: each rank reduces its input with the result of the previous rank, and passes
// its own result on. This moves the minimum number of cache lines, but each rank waits for the one
// before it.
#pragma once

#include "runtime/context/context.h"
#include "runtime/node/lines.h"

namespace huddle::example {

using context::until_reached;
using node::Address;
using node::Region;

class RelayScan {
 public:
  // Number of calls by which a rank may be ahead of the next one. A power of two, because counters
  // wrap.
  static constexpr context::Sequence slots = 2;

  // Requires: every flag in shared memory has the value `start`.
  explicit RelayScan(context::Sequence start) : call_(start) {}

  std::size_t shared_bytes() const { return carver_.size(); }

  // Requires: `count` elements fit into a slot behind its flag.
  template <context::Context W>
  void run(W& w, std::size_t count, const memory::Reduction& reduction) {
    ++call_;
    const std::size_t bytes = count * reduction.element_bytes;
    const Address own{Region::input, w.rank(), 0};
    const Address result{Region::output, w.rank(), 0};
    if (w.rank() == 0) {
      w.copy(result, own, bytes, memory::CopyKernel::plain);
    } else {
      const Address before = slot_of(w.rank() - 1);
      w.wait(before, until_reached(call_));
      w.reduce(result, before + node::payload_offset, own, count, reduction);
      w.store(taken_by(w.rank()), call_);
    }
    if (w.rank() + 1 < w.ranks()) {
      const Address mine = slot_of(w.rank());
      // Waits until the next rank has read the slot's previous content.
      w.wait(taken_by(w.rank() + 1), until_reached(call_ - slots));
      w.copy(mine + node::payload_offset, result, bytes, memory::CopyKernel::plain);
      w.store(mine, call_);
    }
  }

 private:
  Address slot_of(int owner) const {
    return {Region::shared, owner, slots_at_ + call_ % slots * node::apart_bytes};
  }

  // The flag with the number of the last call that `rank` has read from the rank before it.
  Address taken_by(int rank) const { return {Region::shared, rank, taken_at_}; }

  node::SharedLayout carver_;
  std::size_t taken_at_ = carver_.take(node::apart_bytes);
  std::size_t slots_at_ = carver_.take(slots * node::apart_bytes);
  context::Sequence call_;
};

}  // namespace huddle::example
