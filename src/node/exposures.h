// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What single-copy protocols have in common: in each call every rank tells where its buffers lie,
// reads what is the others' or writes there, and leaves when nobody does so with what is its own
// any more. Whoever cannot says so when it is through, and then all ranks fail together.
#pragma once

#include <cstdint>
#include <optional>

#include "node/counters.h"
#include "node/lines.h"
#include "world/world.h"

namespace huddle::node {

class Exposures {
 public:
  // So many places of each rank. pre: `start` is even.
  Exposures(Carver& carver, int places, world::Sequence start);

  // Of the calls so far, the one at hand included.
  world::Sequence call() const { return call_; }

  // Before publish(): `what` is this rank's place of that number. Whether others can reach it.
  template <world::SingleCopyWorld W>
  bool show(W& w, int number, Place what) const {
    return w.expose(place_of(w.rank(), number), what);
  }
  // Begins a call.
  template <world::SingleCopyWorld W>
  void publish(W& w) {
    failure_ = none;
    shown_.publish(w, ++call_);
  }

  // Copies from what `owner` shows under that number. False where it could not be read, and from
  // then on until the end of the call: what came is not to be used.
  template <world::SingleCopyWorld W>
  [[nodiscard]] bool pull(W& w, int owner, int number, Place to, std::size_t offset,
                          std::size_t bytes) {
    if (failure_ != none) return false;
    shown_.wait_for(w, owner, call_);
    return note(Way::reading, owner, w.pull(to, place_of(owner, number), offset, bytes));
  }
  // The same in the other direction.
  template <world::SingleCopyWorld W>
  [[nodiscard]] bool push(W& w, int owner, int number, std::size_t offset, Place from,
                          std::size_t bytes) {
    if (failure_ != none) return false;
    shown_.wait_for(w, owner, call_);
    begin_writing(w, owner);
    const path::ErrorNumber error = w.push(place_of(owner, number), offset, from, bytes);
    end_writing(w);
    return note(Way::writing, owner, error);
  }

  // Where what `owner` shows under that number lies for this rank; nothing where the path has to
  // copy it.
  template <world::SingleCopyWorld W>
  [[nodiscard]] std::optional<Place> reach(W& w, int owner, int number) const {
    shown_.wait_for(w, owner, call_);
    return w.reach(place_of(owner, number));
  }

  // Until that rank has copied all that it wants.
  template <world::SingleCopyWorld W>
  void wait_until_through(W& w, int rank) const {
    through_.wait_for(w, rank, call_);
  }

  // Ends the call when all have copied all that they want. Throws world::PathFailed on all ranks,
  // with the same words, where one could not.
  template <world::SingleCopyWorld W>
  void finish(W& w) {
    w.store(failure_at(w.rank()), failure_);
    through_.publish(w, call_);
    try {
      through_.wait_for_others(w, call_);
    } catch (...) {
      withdraw(w);
      throw;
    }
    // The lowest rank's failure is everybody's.
    for (int rank = 0; rank < w.ranks(); ++rank) {
      const Failure failure = rank == w.rank() ? failure_ : w.load(failure_at(rank));
      if (failure != none) fail(rank, failure);
    }
  }

  // Leaves the call early: from then on what this rank shows is its caller's again, who may have
  // put something else there. Whoever has begun to write is waited for, nobody else begins.
  template <world::SingleCopyWorld W>
  void withdraw(W& w) const {
    withdrawn_.publish(w, call_);
    w.fence();
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank == w.rank()) continue;
      const Place writes = writes_.of(rank);
      const world::Sequence seen = w.load(writes);
      if (is_writing(seen)) w.outlast(writes, world::until_reached(seen + 1));
    }
  }

 private:
  enum class Way : std::uint8_t { reading, writing };
  // What could not be done to whose memory, and what the system said: in one word, that goes where
  // a flag can.
  using Failure = world::Sequence;
  static constexpr Failure none = 0;
  static Failure failure_of(Way way, int owner, path::ErrorNumber error);
  // Whether it went well.
  bool note(Way way, int owner, path::ErrorNumber error) {
    if (error != path::fine) failure_ = failure_of(way, owner, error);
    return error == path::fine;
  }
  [[noreturn]] static void fail(int rank, Failure failure);

  // Either the owner sees that this rank writes, or this rank that the owner is not in the call any
  // more.
  template <world::SingleCopyWorld W>
  void begin_writing(W& w, int owner) {
    writes_.publish(w, ++write_);
    w.fence();
    if (!world::reached(w.load(withdrawn_.of(owner)), call_)) return;
    end_writing(w);
    left_early(owner);
  }
  template <world::SingleCopyWorld W>
  void end_writing(W& w) {
    writes_.publish(w, ++write_);
  }
  static bool is_writing(world::Sequence write) { return write % 2 != 0; }
  [[noreturn]] static void left_early(int owner);

  Place place_of(int owner, int number) const {
    return {Region::shared, owner,
            places_offset_ + static_cast<std::size_t>(number) * world::exposure_bytes};
  }
  // In the line of the flag that says so, in two places by turns: a rank may be through with the
  // next call before all have seen how this one went, but not with the one after it.
  Place failure_at(int rank) const { return through_.of(rank) + flag_bytes * (1 + call_ % 2); }

  Counters shown_;
  Counters through_;
  Counters writes_;     // beginnings and ends of writing to others' memory
  Counters withdrawn_;  // calls that were left early
  std::size_t places_offset_;
  world::Sequence call_;
  world::Sequence write_;
  Failure failure_ = none;
};

}  // namespace huddle::node
