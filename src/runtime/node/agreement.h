// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include "runtime/context/context.h"
#include "runtime/node/lines.h"

namespace huddle::node {

// Everybody shows a few bytes to everybody: how the members of a team agree on something.
class NoticeBoard {
 public:
  // pre: shared memory holds `start` everywhere.
  NoticeBoard(std::size_t most_bytes, context::Sequence start);

  static std::size_t shared_bytes(std::size_t most_bytes) { return 2 * slot_bytes(most_bytes); }

  // All notices in rank order. pre: the same number of bytes on all ranks, not over most_bytes.
  template <context::Context W>
  void run(W& w, std::size_t bytes) {
    ++call_;
    const Address mine = slot_of(w.rank());
    w.copy(mine + payload_at(bytes), {Region::input, w.rank(), 0}, bytes,
           memory::CopyKernel::plain);
    w.store_stamped(mine, call_);
    for (int rank = 0; rank < w.ranks(); ++rank) {
      const Address slot = slot_of(rank);
      w.wait_stamped(slot, context::until_reached(call_));
      w.copy({Region::output, w.rank(), static_cast<std::size_t>(rank) * bytes},
             slot + payload_at(bytes), bytes, memory::CopyKernel::plain);
    }
  }

 private:
  // Two slots in turn: whoever writes for the call after next has seen everybody's flag of the
  // next, and they raised it after reading this one's.
  Address slot_of(int owner) const { return {Region::shared, owner, call_ % 2 * stride_}; }

  std::size_t stride_;
  context::Sequence call_;
};

// From which call on all ranks do something that one of them asks for. It cannot speak to the
// others first: they may be in this call already, or calls ahead, and would not look. So everybody
// shows which call it begins, and looks whether somebody has asked; whoever asks reads how far all
// have come, and says which call is the first.
class CommonStart {
 public:
  // Of each rank's shared memory, from `offset` on. pre: it holds `start` everywhere.
  CommonStart(std::size_t offset, context::Sequence start)
      : calls_(offset), words_(offset + apart_bytes), start_(start), call_(start) {}

  static constexpr std::size_t shared_bytes() { return 2 * apart_bytes; }

  // Whether it has started with the call that this rank begins now, the same on all ranks. Who asks
  // asks for this call, but may be too late for it. Fence: as memory::OneSidedFence is.
  template <context::Context W, class Fence>
  bool has_started(W& w, bool asks, const Fence& fence) {
    ++call_;
    if (has_started_) return true;
    show_call(w, fence);
    if (!asks && w.load(request()) == start_) return false;
    return find_out(w, asks, fence);
  }

 private:
  // What this rank asks for is seen by whoever does not see this.
  template <context::Context W, class Fence>
  void show_call(W& w, const Fence& fence) {
    w.store(call_of(w.rank()), call_);
    fence.frequent_side(w);
  }

  template <context::Context W, class Fence>
  bool find_out(W& w, bool asks, const Fence& fence) {
    if (asks && w.fetch_add(request(), 1) == start_) {
      announce(w, fence);
    } else {
      w.wait(answer(), context::until_equal(start_ + 1));
    }
    has_started_ = context::reached(call_, w.load(first_call()));
    return has_started_;
  }

  // For one rank, once.
  template <context::Context W, class Fence>
  void announce(W& w, const Fence& fence) {
    fence.rare_side(w);
    context::Sequence first = call_;
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank == w.rank()) continue;
      const context::Sequence theirs = w.load(call_of(rank));
      if (context::reached(theirs, first)) first = theirs + 1;
    }
    w.store(first_call(), first);
    w.store(answer(), start_ + 1);
  }

  Address call_of(int rank) const { return {Region::shared, rank, calls_}; }
  // Of all ranks, in the lowest one's memory: whether anybody asks, whether it is answered, and
  // how.
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
