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

  std::size_t shared_bytes() const { return layout_.size(); }

  // Requires: `count` elements fit into a slot behind its flag.
  template <context::Context Ctx>
  void run(Ctx& ctx, std::size_t count, const memory::Reduction& reduction) {
    ++call_;
    const std::size_t bytes = count * reduction.element_bytes;
    const Address own{Region::input, ctx.rank(), 0};
    const Address result{Region::output, ctx.rank(), 0};
    if (ctx.rank() == 0) {
      ctx.copy(result, own, bytes, memory::CopyKernel::plain);
    } else {
      const Address before = slot_of(ctx.rank() - 1);
      ctx.wait(before, until_reached(call_));
      ctx.reduce(result, before + node::payload_offset, own, count, reduction);
      ctx.store(taken_by(ctx.rank()), call_);
    }
    if (ctx.rank() + 1 < ctx.ranks()) {
      const Address mine = slot_of(ctx.rank());
      // Waits until the next rank has read the slot's previous content.
      ctx.wait(taken_by(ctx.rank() + 1), until_reached(call_ - slots));
      ctx.copy(mine + node::payload_offset, result, bytes, memory::CopyKernel::plain);
      ctx.store(mine, call_);
    }
  }

 private:
  Address slot_of(int owner) const {
    return {Region::shared, owner, slots_at_ + call_ % slots * node::false_sharing_bytes};
  }

  // The flag with the number of the last call that `rank` has read from the rank before it.
  Address taken_by(int rank) const { return {Region::shared, rank, taken_at_}; }

  node::SharedLayout layout_;
  std::size_t taken_at_ = layout_.reserve(node::false_sharing_bytes);
  std::size_t slots_at_ = layout_.reserve(slots * node::false_sharing_bytes);
  context::Sequence call_;
};

}  // namespace huddle::example
