// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What single-copy protocols have in common: in each call every rank tells where its buffers lie,
// reads what is the others' or writes there, and leaves when nobody does so with what is its own
// any more. Whoever cannot says so when it is through, and then all ranks fail together.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/context/context.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"

namespace huddle::node {

// Ranks that leave a call in the middle, because another one has died or an operator of their
// caller's threw: what they have shown is their caller's again, who may use it for something else.
// From then on nobody copies from there or to there any more; whoever is just doing so is waited
// for.
class Departures {
 public:
  // pre: `start` is even.
  Departures(SharedLayout& layout, context::Sequence start)
      : copies_(layout), left_(layout), start_(start), copy_(start) {}

  // `copy` reads or writes what others show, after it has asked check() about them. Either the
  // owner sees that this rank copies, or this rank that the owner has left.
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
  // The same of what that rank shows: it is asked about here.
  template <context::SingleCopyContext W, class Copy>
  void copying(W& w, int owner, Copy copy) {
    copying(w, [&] {
      check(w, owner);
      copy();
    });
  }
  // Throws PeerLost where that rank has left.
  template <context::SingleCopyContext W>
  void check(W& w, int owner) const {
    if (w.load(left_.of(owner)) != start_) tell_of(owner);
  }

  // Whoever throws out of `body` leaves.
  template <context::SingleCopyContext W, class Body>
  void leaving_if_thrown(W& w, Body body) const {
    try {
      body();
    } catch (...) {
      leave(w);
      throw;
    }
  }
  // For good: nothing that is done with these flags later could be trusted.
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

  Counters copies_;  // beginnings and ends
  Counters left_;    // stands where it stood at the beginning until its owner leaves
  context::Sequence start_;
  context::Sequence copy_;
};

class ExposedBuffers {
 public:
  // So many places of each rank. pre: `start` is even.
  ExposedBuffers(SharedLayout& layout, int places, context::Sequence start);

  // Of the calls so far, the one at hand included.
  context::Sequence call() const { return call_; }

  // Before publish(): `what` is this rank's place of that number. Whether others can reach it.
  template <context::SingleCopyContext W>
  bool show(W& w, int number, Address what) const {
    return w.expose(place_of(w.rank(), number), what);
  }
  // One call, in which `body` publishes and copies: ends when all have copied all that they want.
  // Throws context::PathFailed on all ranks, with the same words, where one could not. Whatever
  // else is thrown is thrown when nobody copies what this rank shows any more.
  template <context::SingleCopyContext W, class Body>
  void call(W& w, Body body) {
    departures_.leaving_if_thrown(w, [&] {
      body();
      finish(w);
    });
    // The lowest rank's failure is everybody's.
    for (int rank = 0; rank < w.ranks(); ++rank) {
      const Failure failure = rank == w.rank() ? failure_ : w.load(failure_at(rank));
      if (failure != none) fail(rank, failure);
    }
  }

  // All that follow: in a call.
  template <context::SingleCopyContext W>
  void publish(W& w) {
    failure_ = none;
    shown_.announce_call(w);
    w.order_callers_stores();
    shown_.publish(w, ++call_);
  }

  // Copies from what `owner` shows under that number. False where it could not be read, and from
  // then on until the end of the call: what came is not to be used. Throws PeerLost, as all do that
  // touch what is another's, where the owner has left the call in the middle.
  template <context::SingleCopyContext W>
  [[nodiscard]] bool pull(W& w, int owner, int number, Address to, std::size_t offset,
                          std::size_t bytes) {
    return copy(w, owner, [&] { return pull_shown(w, owner, number, to, offset, bytes); });
  }
  // The same in the other direction.
  template <context::SingleCopyContext W>
  [[nodiscard]] bool push(W& w, int owner, int number, std::size_t offset, Address from,
                          std::size_t bytes) {
    return copy(w, owner, [&] {
      return note(Way::writing, owner, w.push(place_of(owner, number), offset, from, bytes));
    });
  }

  // Where what `owner` shows under that number lies for this rank; nothing where the path has to
  // copy it.
  template <context::SingleCopyContext W>
  [[nodiscard]] std::optional<Address> reach(W& w, int owner, int number) const {
    shown_.wait_in_call(w, owner, call_);
    return w.reach(place_of(owner, number));
  }

  // `join` touches what is everybody's: where it is reached, and by pull_shown().
  template <context::SingleCopyContext W, class Join>
  void with_all(W& w, Join join) {
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank != w.rank()) shown_.wait_in_call(w, rank, call_);
    }
    departures_.copying(w, [&] {
      for (int rank = 0; rank < w.ranks(); ++rank) {
        if (rank != w.rank()) departures_.check(w, rank);
      }
      join();
    });
  }
  template <context::SingleCopyContext W>
  [[nodiscard]] bool pull_shown(W& w, int owner, int number, Address to, std::size_t offset,
                                std::size_t bytes) {
    if (failure_ != none) return false;
    return note(Way::reading, owner, w.pull(to, place_of(owner, number), offset, bytes));
  }

  // Until that rank has copied all that it wants.
  template <context::SingleCopyContext W>
  void wait_until_through(W& w, int rank) const {
    through_.wait_for(w, rank, call_);
  }

 private:
  enum class Way : std::uint8_t { reading, writing };
  // What could not be done to whose memory, and what the system said: in one word, that goes where
  // a flag can.
  using Failure = context::Sequence;
  static constexpr Failure none = 0;
  static Failure failure_of(Way way, int owner, single_copy::ErrorNumber error);
  // Whether it went well.
  bool note(Way way, int owner, single_copy::ErrorNumber error) {
    if (error != single_copy::fine) failure_ = failure_of(way, owner, error);
    return error == single_copy::fine;
  }
  [[noreturn]] static void fail(int rank, Failure failure);

  // Of what `owner` shows, or there. Whether that went well.
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
  // In the line of the flag that says so, in two places by turns: a rank may be through with the
  // next call before all have seen how this one went, but not with the one after it.
  Address failure_at(int rank) const { return through_.of(rank) + flag_bytes * (1 + call_ % 2); }

  Counters shown_;
  Counters through_;
  Departures departures_;
  std::size_t places_offset_;
  context::Sequence call_;
  Failure failure_ = none;
};

}  // namespace huddle::node
