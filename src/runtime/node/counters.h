// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Monotonic counters, one per rank, each in a cache line of its owner's memory that only the owner
// writes. Protocols publish most of their progress in them.
//
// Values are compared with wrap-around, so no counter may fall 2^31 behind the others: every rank
// publishes its counters from time to time, even if no peer waits for them.
#pragma once

#include <vector>

#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class Counters {
  static_assert(payload_offset + context::stamps_kept * sizeof(context::Sequence) <= line_bytes);

 public:
  Counters() = default;
  explicit Counters(SharedLayout& layout) : offset_(layout.reserve(false_sharing_bytes)) {}

  Address of(int owner) const { return {Region::shared, owner, offset_}; }

  template <context::Context Ctx>
  void publish(Ctx& ctx, context::Sequence value) const {
    ctx.store(of(ctx.rank()), value);
  }
  // Blocks until `owner` has published at least `value`. Returns the value seen. Its type depends
  // on the context, because the model checker tracks how the value is used.
  template <context::Context Ctx>
  auto wait_for(Ctx& ctx, int owner, context::Sequence value) const {
    return ctx.wait(of(owner), context::until_reached(value));
  }
  // Call at the beginning of a collective. Records the stamp of the call, which becomes visible to
  // peers with the next value that this rank publishes.
  template <context::Context Ctx>
  void announce_call(Ctx& ctx) const {
    ctx.record_stamp(stamps_of(ctx.rank()));
  }
  // Like wait_for(), for a value that `owner` publishes in this call. Throws CallsDiffer if the
  // owner's call has other arguments.
  template <context::Context Ctx>
  auto wait_in_call(Ctx& ctx, int owner, context::Sequence value) const {
    const auto seen = wait_for(ctx, owner, value);
    ctx.compare_stamp(stamps_of(owner));
    return seen;
  }
  // Blocks until all other ranks have published at least `value`. Returns the lowest value seen, or
  // `value` if there is no other rank.
  template <context::Context Ctx>
  context::Sequence wait_for_others(Ctx& ctx, context::Sequence value) const {
    context::Sequence last = value;
    // Begins with the next rank, so that not all ranks read the same counter first.
    for (int step = 1; step < ctx.ranks(); ++step) {
      const context::Sequence seen = wait_for(ctx, (ctx.rank() + step) % ctx.ranks(), value);
      if (step == 1 || context::reached(last, seen)) last = seen;
    }
    return last;
  }

 private:
  // The stamps lie in the cache line of the counter, behind the words that protocols keep there.
  Address stamps_of(int owner) const { return of(owner) + payload_offset; }

  std::size_t offset_ = 0;
};

// Guards buffers that are reused cyclically: keeps the rank that fills them from overwriting data
// that other ranks have not read yet. Reads the other ranks' counters only if the values last seen
// do not suffice.
class ReuseGuard {
 public:
  ReuseGuard(Counters done, context::Sequence start) : done_(done), known_(start) {}

  // Blocks until all other ranks have finished everything up to `value`.
  template <context::Context Ctx>
  void wait_for_others(Ctx& ctx, context::Sequence value) {
    if (context::reached(known_, value)) return;
    known_ = done_.wait_for_others(ctx, value);
  }

  // Records that all other ranks have reached `value`. This rank knows that without reading their
  // counters if it has received data from a peer that had waited for it.
  void learn(context::Sequence value) {
    if (!context::reached(known_, value)) known_ = value;
  }

 private:
  Counters done_;
  context::Sequence known_;
};

}  // namespace huddle::node
