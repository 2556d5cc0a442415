// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Common part of the single-copy protocols: in each call a rank exposes its buffers, reads or
// writes the buffers of its peers, and returns once no peer accesses its own buffers any more. A
// rank that cannot access a peer reports this at the end of the call, and then all ranks fail.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/context/context.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"

namespace huddle::node {

// Tracks ranks that leave a call early because a peer died or an operator of their caller threw.
// Their exposed memory belongs to their caller again, which may reuse it. Therefore no peer starts
// a copy from or to it any more, and the leaving rank waits for the copies that are in progress.
class Departures {
 public:
  // Requires: `start` is even.
  Departures(SharedLayout& layout, context::Sequence start)
      : copies_(layout), left_(layout), start_(start), copy_(start) {}

  // Runs `copy`, which reads or writes memory that peers expose and calls check() for their ranks
  // first. Either the owner sees the copy in progress, or this rank sees that the owner has left.
  template <context::SingleCopyContext W, class Copy>
  void copying(W& w, Copy copy) {
    copies_.publish(w, ++copy_);
    w.fence();
    try {
      copy();
    } catch (...) {
      copies_.publish(w, ++copy_);
      throw;
    }
    copies_.publish(w, ++copy_);
  }
  // Like above, for memory of `owner` alone, which is checked here.
  template <context::SingleCopyContext W, class Copy>
  void copying(W& w, int owner, Copy copy) {
    copying(w, [&] {
      check(w, owner);
      copy();
    });
  }
  // Throws PeerLost if `owner` has left.
  template <context::SingleCopyContext W>
  void check(W& w, int owner) const {
    if (w.load(left_.of(owner)) != start_) tell_of(owner);
  }

  // Runs `body`; if it throws, this rank leaves.
  template <context::SingleCopyContext W, class Body>
  void leaving_if_thrown(W& w, Body body) const {
    try {
      body();
    } catch (...) {
      leave(w);
      throw;
    }
  }
  // Leaves for good: later operations on these flags could not be trusted.
  template <context::SingleCopyContext W>
  void leave(W& w) const {
    left_.publish(w, start_ + 1);
    w.fence();
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank == w.rank()) continue;
      const Address copies = copies_.of(rank);
      const context::Sequence seen = w.load(copies);
      if (is_copying(seen)) w.outlast(copies, context::until_reached(seen + 1));
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
  // Lays out `places` places per rank.
  // Requires: `start` is even.
  ExposedBuffers(SharedLayout& layout, int places, context::Sequence start);

  // Returns the number of calls so far, including the current one.
  context::Sequence call() const { return call_; }

  // Exposes `what` as this rank's place `number`. Returns whether peers can reach it.
  // Requires: publish() has not been called yet in this call.
  template <context::SingleCopyContext W>
  bool show(W& w, int number, Address what) const {
    return w.expose(place_of(w.rank(), number), what);
  }
  // Runs one call, in which `body` publishes and copies. Returns once all ranks have made their
  // copies. Throws context::PathFailed with the same message on all ranks if a rank could not copy.
  // Any other exception is rethrown once no peer copies from or to this rank's memory.
  template <context::SingleCopyContext W, class Body>
  void call(W& w, Body body) {
    departures_.leaving_if_thrown(w, [&] {
      body();
      finish(w);
    });
    // All ranks report the failure of the lowest rank that failed.
    for (int rank = 0; rank < w.ranks(); ++rank) {
      const Failure failure = rank == w.rank() ? failure_ : w.load(failure_at(rank));
      if (failure != none) fail(rank, failure);
    }
  }

  // The following functions must be called within a call.
  template <context::SingleCopyContext W>
  void publish(W& w) {
    failure_ = none;
    shown_.announce_call(w);
    w.order_callers_stores();
    shown_.publish(w, ++call_);
  }

  // Copies from `owner`'s place `number`. Returns false if that failed now or earlier in this call;
  // the data must not be used then. Like all functions that access a peer's memory, throws PeerLost
  // if `owner` has left the call early.
  template <context::SingleCopyContext W>
  [[nodiscard]] bool pull(W& w, int owner, int number, Address to, std::size_t offset,
                          std::size_t bytes) {
    return copy(w, owner, [&] { return pull_shown(w, owner, number, to, offset, bytes); });
  }
  // Like pull(), in the opposite direction.
  template <context::SingleCopyContext W>
  [[nodiscard]] bool push(W& w, int owner, int number, std::size_t offset, Address from,
                          std::size_t bytes) {
    return copy(w, owner, [&] {
      return note(Way::writing, owner, w.push(place_of(owner, number), offset, from, bytes));
    });
  }

  // Returns this rank's address of `owner`'s place `number`, or nothing if the path can only copy.
  template <context::SingleCopyContext W>
  [[nodiscard]] std::optional<Address> reach(W& w, int owner, int number) const {
    shown_.wait_in_call(w, owner, call_);
    return w.reach(place_of(owner, number));
  }

  // Runs `join`, which accesses memory of all ranks, by reach() addresses and by pull_shown().
  template <context::SingleCopyContext W, class Combine>
  void with_all(W& w, Combine combine) {
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank != w.rank()) shown_.wait_in_call(w, rank, call_);
    }
    departures_.copying(w, [&] {
      for (int rank = 0; rank < w.ranks(); ++rank) {
        if (rank != w.rank()) departures_.check(w, rank);
      }
      combine();
    });
  }
  template <context::SingleCopyContext W>
  [[nodiscard]] bool pull_shown(W& w, int owner, int number, Address to, std::size_t offset,
                                std::size_t bytes) {
    if (failure_ != none) return false;
    return note(Way::reading, owner, w.pull(to, place_of(owner, number), offset, bytes));
  }

  // Blocks until `rank` has made all its copies of this call.
  template <context::SingleCopyContext W>
  void wait_until_through(W& w, int rank) const {
    through_.wait_for(w, rank, call_);
  }

 private:
  enum class Way : std::uint8_t { reading, writing };
  // Encodes the operation, the owner and the system's error number in one word.
  using Failure = context::Sequence;
  static constexpr Failure none = 0;
  static Failure failure_of(Way way, int owner, single_copy::ErrorNumber error);
  // Records an error. Returns whether there was none.
  bool note(Way way, int owner, single_copy::ErrorNumber error) {
    if (error != single_copy::fine) failure_ = failure_of(way, owner, error);
    return error == single_copy::fine;
  }
  [[noreturn]] static void fail(int rank, Failure failure);

  // Runs `act`, which copies from or to `owner`'s memory. Returns whether it succeeded.
  template <context::SingleCopyContext W, class Act>
  bool copy(W& w, int owner, Act act) {
    bool is_done = false;
    if (failure_ != none) return is_done;
    shown_.wait_in_call(w, owner, call_);
    departures_.copying(w, owner, [&] { is_done = act(); });
    return is_done;
  }

  template <context::SingleCopyContext W>
  void finish(W& w) {
    w.store(failure_at(w.rank()), failure_);
    through_.publish(w, call_);
    through_.wait_for_others(w, call_);
  }

  Address place_of(int owner, int number) const {
    return {Region::shared, owner,
            places_offset_ + static_cast<std::size_t>(number) * context::exposure_bytes};
  }
  // In the cache line of the flag that publishes it, in two alternating places: a rank may finish
  // the next call before all ranks have read the result of this one, but not the call after that.
  Address failure_at(int rank) const { return through_.of(rank) + flag_bytes * (1 + call_ % 2); }

  Counters shown_;
  Counters through_;
  Departures departures_;
  std::size_t places_offset_;
  context::Sequence call_;
  Failure failure_ = none;
};

}  // namespace huddle::node
