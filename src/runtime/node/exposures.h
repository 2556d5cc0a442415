// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Common part of the single-copy protocols: in each call a rank exposes its buffers, reads or
// writes the buffers of its peers, and returns once no peer accesses the rank's buffers any more. A
// rank that cannot access a peer's memory reports this at the end of the call, and then the call
// fails on all ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/context/context.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"

namespace huddle::node {

// Tracks ranks that leave a call early because a peer died or a user-defined operator threw an
// exception. The memory that they exposed belongs to their callers again, which may reuse it.
// Therefore no peer starts a copy from or to it any more, and the leaving rank waits for the copies
// that are in progress.
class Departures {
 public:
  // Requires: `start` is even.
  Departures(SharedLayout& layout, context::Sequence start)
      : copies_(layout), left_(layout), start_(start), copy_(start) {}

  // Runs `copy`, which reads or writes memory that peers expose and calls check() for their ranks
  // first. Either the owner sees the copy in progress, or this rank sees that the owner has left.
  template <context::SingleCopyContext Ctx, class Copy>
  void copying(Ctx& ctx, Copy copy) {
    copies_.publish(ctx, ++copy_);
    ctx.fence();
    try {
      copy();
    } catch (...) {
      copies_.publish(ctx, ++copy_);
      throw;
    }
    copies_.publish(ctx, ++copy_);
  }
  // Like the function above, for memory of `owner` only; calls check() itself.
  template <context::SingleCopyContext Ctx, class Copy>
  void copying(Ctx& ctx, int owner, Copy copy) {
    copying(ctx, [&] {
      check(ctx, owner);
      copy();
    });
  }
  // Throws PeerLost if `owner` has left.
  template <context::SingleCopyContext Ctx>
  void check(Ctx& ctx, int owner) const {
    if (ctx.load(left_.of(owner)) != start_) tell_of(owner);
  }

  // Runs `body`. If it throws, calls leave() and rethrows the exception.
  template <context::SingleCopyContext Ctx, class Body>
  void leaving_if_thrown(Ctx& ctx, Body body) const {
    try {
      body();
    } catch (...) {
      leave(ctx);
      throw;
    }
  }
  // Publishes that this rank has left for good, because its flags are no longer consistent. Returns
  // once no peer copies from or to its memory.
  template <context::SingleCopyContext Ctx>
  void leave(Ctx& ctx) const {
    left_.publish(ctx, start_ + 1);
    ctx.fence();
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      if (rank == ctx.rank()) continue;
      const Address copies = copies_.of(rank);
      const context::Sequence seen = ctx.load(copies);
      if (is_copying(seen)) ctx.wait_or_owner_death(copies, context::until_reached(seen + 1));
    }
  }

 private:
  static bool is_copying(context::Sequence copy) { return copy % 2 != 0; }
  [[noreturn]] static void tell_of(int owner);

  Counters copies_;  // incremented at the beginning and at the end of each copy
  Counters left_;    // keeps its initial value until its owner leaves
  context::Sequence start_;
  context::Sequence copy_;
};

// The buffers that the ranks of a team expose to each other in single-copy calls.
class ExposedBuffers {
 public:
  // Reserves `places` places per rank, each of which can expose an address.
  // Requires: `start` is even.
  ExposedBuffers(SharedLayout& layout, int places, context::Sequence start);

  // Returns the number of calls so far, including the current one.
  context::Sequence call() const { return call_; }

  // Exposes `what` as this rank's place `number`. Returns whether peers can map it.
  // Requires: publish() has not been called yet in this call.
  template <context::SingleCopyContext Ctx>
  bool show(Ctx& ctx, int number, Address what) const {
    return ctx.expose(place_of(ctx.rank(), number), what);
  }
  // Runs one call, in which `body` calls publish() and copies. Returns once all ranks have made
  // their copies. Throws context::PathFailed with the same message on all ranks if a rank could not
  // copy. Any other exception is rethrown once no peer copies from or to this rank's memory.
  template <context::SingleCopyContext Ctx, class Body>
  void call(Ctx& ctx, Body body) {
    departures_.leaving_if_thrown(ctx, [&] {
      body();
      finish(ctx);
    });
    // All ranks report the failure of the lowest rank that failed.
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      const Failure failure = rank == ctx.rank() ? failure_ : ctx.load(failure_at(rank));
      if (failure != none) fail(rank, failure);
    }
  }

  // The functions below must be called within call(). publish() comes first: it makes this rank's
  // places visible to peers.
  template <context::SingleCopyContext Ctx>
  void publish(Ctx& ctx) {
    failure_ = none;
    shown_.announce_call(ctx);
    ctx.order_callers_stores();
    shown_.publish(ctx, ++call_);
  }

  // Copies `bytes` bytes to `to`, from `offset` bytes into the memory exposed at `owner`'s place
  // `number`. Returns false if this or an earlier copy of this call failed; the data must not be
  // used then. Like all functions that access a peer's memory, throws PeerLost if `owner` has left
  // the call early.
  template <context::SingleCopyContext Ctx>
  [[nodiscard]] bool pull(Ctx& ctx, int owner, int number, Address to, std::size_t offset,
                          std::size_t bytes) {
    return copy(ctx, owner, [&] { return pull_shown(ctx, owner, number, to, offset, bytes); });
  }
  // Like pull(), in the opposite direction.
  template <context::SingleCopyContext Ctx>
  [[nodiscard]] bool push(Ctx& ctx, int owner, int number, std::size_t offset, Address from,
                          std::size_t bytes) {
    return copy(ctx, owner, [&] {
      return note(Way::writing, owner, ctx.push(place_of(owner, number), offset, from, bytes));
    });
  }

  // Returns the address at which this rank has mapped the memory exposed at `owner`'s place
  // `number`, or nullopt if the memory can only be copied.
  template <context::SingleCopyContext Ctx>
  [[nodiscard]] std::optional<Address> map_exposed(Ctx& ctx, int owner, int number) const {
    shown_.wait_in_call(ctx, owner, call_);
    return ctx.map_exposed(place_of(owner, number));
  }

  // Runs `combine`, which accesses memory of all ranks at addresses from map_exposed() and with
  // pull_shown().
  template <context::SingleCopyContext Ctx, class Combine>
  void with_all(Ctx& ctx, Combine combine) {
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      if (rank != ctx.rank()) shown_.wait_in_call(ctx, rank, call_);
    }
    departures_.copying(ctx, [&] {
      for (int rank = 0; rank < ctx.ranks(); ++rank) {
        if (rank != ctx.rank()) departures_.check(ctx, rank);
      }
      combine();
    });
  }
  template <context::SingleCopyContext Ctx>
  [[nodiscard]] bool pull_shown(Ctx& ctx, int owner, int number, Address to, std::size_t offset,
                                std::size_t bytes) {
    if (failure_ != none) return false;
    return note(Way::reading, owner, ctx.pull(to, place_of(owner, number), offset, bytes));
  }

  // Blocks until `rank` has made all its copies of this call.
  template <context::SingleCopyContext Ctx>
  void wait_until_through(Ctx& ctx, int rank) const {
    through_.wait_for(ctx, rank, call_);
  }

 private:
  enum class Way : std::uint8_t { reading, writing };
  // Encodes the operation, the owner and the system's error number in one word.
  using Failure = context::Sequence;
  static constexpr Failure none = 0;
  static Failure failure_of(Way way, int owner, single_copy::ErrorNumber error);
  // Returns whether `error` is `fine`; otherwise records it.
  bool note(Way way, int owner, single_copy::ErrorNumber error) {
    if (error != single_copy::fine) failure_ = failure_of(way, owner, error);
    return error == single_copy::fine;
  }
  [[noreturn]] static void fail(int rank, Failure failure);

  // Runs `act`, which copies from or to `owner`'s memory. Returns whether it succeeded.
  template <context::SingleCopyContext Ctx, class Act>
  bool copy(Ctx& ctx, int owner, Act act) {
    bool is_done = false;
    if (failure_ != none) return is_done;
    shown_.wait_in_call(ctx, owner, call_);
    departures_.copying(ctx, owner, [&] { is_done = act(); });
    return is_done;
  }

  template <context::SingleCopyContext Ctx>
  void finish(Ctx& ctx) {
    ctx.store(failure_at(ctx.rank()), failure_);
    through_.publish(ctx, call_);
    through_.wait_for_others(ctx, call_);
  }

  Address place_of(int owner, int number) const {
    return {Region::shared, owner,
            places_offset_ + static_cast<std::size_t>(number) * context::exposure_bytes};
  }
  // A failure lies in the cache line of the flag that publishes it, in one of two alternating
  // words: a rank may finish the next call, but not the one after it, before all ranks have read
  // the failure of this call.
  Address failure_at(int rank) const { return through_.of(rank) + flag_bytes * (1 + call_ % 2); }

  Counters shown_;
  Counters through_;
  Departures departures_;
  std::size_t places_offset_;
  context::Sequence call_;
  Failure failure_ = none;
};

}  // namespace huddle::node
