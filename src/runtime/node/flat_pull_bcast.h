// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The flat broadcast of XHC (Katevenis et al., ICPP 2023), for comparison with published times. The
// root publishes its buffer and a counter, and every other rank copies from the buffer. Small
// messages are stored behind the counter instead. At the end every rank sets a flag of its own,
// and the root waits for all of them. huddle's own broadcasts are in bcast_protocols.h.
#pragma once

#include <algorithm>

#include "common/error.h"
#include "runtime/context/context.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class FlatPullBcast {
 public:
  struct Parameters {
    std::size_t inline_bytes = 1024;  // largest message that is stored behind the counter
    std::size_t chunk_bytes = 16384;  // size of one copy from the root's buffer
  };

  // Requires: all words of shared memory hold `start`.
  FlatPullBcast(const Parameters& parameters, context::Sequence start)
      : parameters_(parameters),
        done_(layout_),
        slot_offset_(layout_.reserve(payload_at + parameters.inline_bytes)),
        call_(start) {}

  std::size_t shared_bytes() const { return layout_.size(); }

  // Copies the root's input to the other ranks' outputs. The root returns once all ranks have their
  // data. Requires: every rank can map the root's input.
  template <context::SingleCopyContext Ctx>
  void run(Ctx& ctx, std::size_t bytes, int root) {
    const context::Sequence call = ++call_;
    if (ctx.rank() == root) {
      show(ctx, bytes);
      ctx.store(slot_of(root), call);
      done_.publish(ctx, call);
      done_.wait_for_others(ctx, call);
      return;
    }
    ctx.wait(slot_of(root), context::until_reached(call));
    take(ctx, bytes, root);
    keep_up(ctx, call);
    done_.publish(ctx, call);
  }

 private:
  // Data of any size have cache lines of their own.
  static constexpr std::size_t payload_at = line_bytes;

  Address slot_of(int owner) const { return {Region::shared, owner, slot_offset_}; }
  bool is_inline(std::size_t bytes) const { return bytes <= parameters_.inline_bytes; }

  template <context::SingleCopyContext Ctx>
  void show(Ctx& ctx, std::size_t bytes) const {
    const Address slot = slot_of(ctx.rank());
    const Address from{Region::input, ctx.rank(), 0};
    if (is_inline(bytes)) {
      ctx.copy(slot + payload_at, from, bytes, memory::CopyKernel::plain);
    } else {
      ctx.expose(slot + payload_offset, from);
      ctx.order_callers_stores();
    }
  }

  template <context::SingleCopyContext Ctx>
  void take(Ctx& ctx, std::size_t bytes, int root) const {
    const Address slot = slot_of(root);
    const Address to{Region::output, ctx.rank(), 0};
    if (is_inline(bytes)) {
      return ctx.copy(to, slot + payload_at, bytes, memory::CopyKernel::plain);
    }
    const auto from = ctx.map_exposed(slot + payload_offset);
    if (!from) throw FailureError("the root's memory cannot be mapped");
    for (std::size_t at = 0; at < bytes; at += parameters_.chunk_bytes) {
      ctx.copy(to + at, *from + at, std::min(parameters_.chunk_bytes, bytes - at),
               memory::CopyKernel::plain);
    }
  }

  // A rank that is never the root must not let its counter fall 2^31 calls behind.
  template <context::Context Ctx>
  void keep_up(Ctx& ctx, context::Sequence call) const {
    constexpr context::Sequence rarely = 1 << 16;
    if (call % rarely == 0) ctx.store(slot_of(ctx.rank()), call);
  }

  Parameters parameters_;
  SharedLayout layout_;
  Counters done_;
  std::size_t slot_offset_;
  context::Sequence call_;
};

}  // namespace huddle::node
