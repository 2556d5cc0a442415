// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A scan as a relay: each rank joins its own to what came from the rank before it, and passes the
// result on. The fewest lines that can move; but each rank waits for all before it, one by one.
#pragma once

#include "runtime/context/context.h"
#include "runtime/node/lines.h"

namespace huddle::example {

using context::until_reached;
using node::Address;
using node::Region;

class RelayScan {
 public:
  // How far a rank may be ahead of the next one; a power of two, since counters wrap.
  static constexpr context::Sequence slots = 2;

  // pre: shared memory holds `start` everywhere.
  explicit RelayScan(context::Sequence start) : call_(start) {}

  std::size_t shared_bytes() const { return carver_.size(); }

  // pre: all of the elements fit behind a flag.
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
      w.wait(taken_by(w.rank() + 1), until_reached(call_ - slots));  // what the slot held before
      w.copy(mine + node::payload_offset, result, bytes, memory::CopyKernel::plain);
      w.store(mine, call_);
    }
  }

 private:
  Address slot_of(int owner) const {
    return {Region::shared, owner, slots_at_ + call_ % slots * node::apart_bytes};
  }

  // How many calls a rank is through with.
  Address taken_by(int rank) const { return {Region::shared, rank, taken_at_}; }

  node::SharedLayout carver_;
  std::size_t taken_at_ = carver_.take(node::apart_bytes);
  std::size_t slots_at_ = carver_.take(slots * node::apart_bytes);
  context::Sequence call_;
};

}  // namespace huddle::example
