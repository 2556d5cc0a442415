// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Agreement among the members of a team: an allgather of a few bytes, and an agreement on the call
// from which all ranks perform an action that one of them has requested.
#pragma once

#include "runtime/context/context.h"
#include "runtime/node/lines.h"

namespace huddle::node {

// Allgather of a few bytes per rank, from which all ranks derive the same decision.
class SmallAllgather {
 public:
  // Requires: all words of shared memory hold `start`.
  SmallAllgather(std::size_t most_bytes, context::Sequence start);

  static std::size_t shared_bytes(std::size_t most_bytes) { return 2 * slot_bytes(most_bytes); }

  // Gathers `bytes` bytes from each rank's input in the output of every rank, in rank order.
  // Requires: `bytes` is the same on all ranks and at most `most_bytes`.
  template <context::Context Ctx>
  void run(Ctx& ctx, std::size_t bytes) {
    ++call_;
    const Address mine = slot_of(ctx.rank());
    ctx.copy(mine + payload_at(bytes), {Region::input, ctx.rank(), 0}, bytes,
             memory::CopyKernel::plain);
    ctx.store_stamped(mine, call_);
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      const Address slot = slot_of(rank);
      ctx.wait_stamped(slot, context::until_reached(call_));
      ctx.copy({Region::output, ctx.rank(), static_cast<std::size_t>(rank) * bytes},
               slot + payload_at(bytes), bytes, memory::CopyKernel::plain);
    }
  }

 private:
  // Each rank uses two slots alternately. A rank reuses the slot of call n in call n + 2. By then
  // it has seen all flags of call n + 1, each of which was set after its owner had read all slots
  // of call n.
  Address slot_of(int owner) const { return {Region::shared, owner, call_ % 2 * stride_}; }

  std::size_t stride_;
  context::Sequence call_;
};

// Determines the call from which all ranks perform an action that one of them requested. The
// requesting rank cannot notify the others first, because they may already be in this call or
// several calls ahead. Therefore each rank publishes the number of the call that it begins and then
// checks for a request. The requesting rank reads these numbers and announces the first call that
// no other rank has begun.
class CommonStart {
 public:
  // Uses shared_bytes() of each rank's shared memory from `offset` on.
  // Requires: all words of that memory hold `start`.
  CommonStart(std::size_t offset, context::Sequence start)
      : calls_(offset), words_(offset + false_sharing_bytes), start_(start), call_(start) {}

  static constexpr std::size_t shared_bytes() { return 2 * false_sharing_bytes; }

  // Call at the beginning of each call. Returns whether the action has started by this call; the
  // result is the same on all ranks. `asks` requests the action from this call on, but it may start
  // a few calls later. `Fence` has the two sides of memory::OneSidedFence, with the context as
  // argument.
  template <context::Context Ctx, class Fence>
  bool has_started(Ctx& ctx, bool asks, const Fence& fence) {
    ++call_;
    if (has_started_) return true;
    show_call(ctx, fence);
    if (!asks && ctx.load(request()) == start_) return false;
    return find_out(ctx, asks, fence);
  }

 private:
  // Afterwards either the requesting rank sees this call number, or this rank sees the request.
  template <context::Context Ctx, class Fence>
  void show_call(Ctx& ctx, const Fence& fence) {
    ctx.store(call_of(ctx.rank()), call_);
    fence.frequent_side(ctx);
  }

  template <context::Context Ctx, class Fence>
  bool find_out(Ctx& ctx, bool asks, const Fence& fence) {
    if (asks && ctx.fetch_add(request(), 1) == start_) {
      announce(ctx, fence);
    } else {
      ctx.wait(answer(), context::until_equal(start_ + 1));
    }
    has_started_ = context::reached(call_, ctx.load(first_call()));
    return has_started_;
  }

  // Runs once, on the rank whose request was the first.
  template <context::Context Ctx, class Fence>
  void announce(Ctx& ctx, const Fence& fence) {
    fence.rare_side(ctx);
    context::Sequence first = call_;
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      if (rank == ctx.rank()) continue;
      const context::Sequence theirs = ctx.load(call_of(rank));
      if (context::reached(theirs, first)) first = theirs + 1;
    }
    ctx.store(first_call(), first);
    ctx.store(answer(), start_ + 1);
  }

  Address call_of(int rank) const { return {Region::shared, rank, calls_}; }
  // Words in rank 0's memory: the number of requests, a flag that is set once the first call is
  // known, and that call.
  Address request() const { return {Region::shared, 0, words_}; }
  Address answer() const { return {Region::shared, 0, words_ + flag_bytes}; }
  Address first_call() const { return {Region::shared, 0, words_ + 2 * flag_bytes}; }

  std::size_t calls_;
  std::size_t words_;
  context::Sequence start_;
  context::Sequence call_;
  bool has_started_ = false;
};

}  // namespace huddle::node
