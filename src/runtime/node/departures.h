// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks that leave a call in the middle, because another one has died or an operator of their
// caller's threw: what they have shown is their caller's again, who may use it for something else.
// From then on nobody copies from there or to there any more; whoever is just doing so is waited
// for.
#pragma once

#include "runtime/context/world.h"
#include "runtime/node/counters.h"

namespace huddle::node {

class Departures {
 public:
  // pre: `start` is even.
  Departures(SharedLayout& layout, world::Sequence start)
      : copies_(layout), left_(layout), start_(start), copy_(start) {}

  // `copy` reads or writes what others show, after it has asked check() about them. Either the
  // owner sees that this rank copies, or this rank that the owner has left.
  template <world::SingleCopyWorld W, class Copy>
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
  template <world::SingleCopyWorld W, class Copy>
  void copying(W& w, int owner, Copy copy) {
    copying(w, [&] {
      check(w, owner);
      copy();
    });
  }
  // Throws PeerLost where that rank has left.
  template <world::SingleCopyWorld W>
  void check(W& w, int owner) const {
    if (w.load(left_.of(owner)) != start_) tell_of(owner);
  }

  // Whoever throws out of `body` leaves.
  template <world::SingleCopyWorld W, class Body>
  void leaving_if_thrown(W& w, Body body) const {
    try {
      body();
    } catch (...) {
      leave(w);
      throw;
    }
  }
  // For good: nothing that is done with these flags later could be trusted.
  template <world::SingleCopyWorld W>
  void leave(W& w) const {
    left_.publish(w, start_ + 1);
    w.fence();
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank == w.rank()) continue;
      const Address copies = copies_.of(rank);
      const world::Sequence seen = w.load(copies);
      if (is_copying(seen)) w.outlast(copies, world::until_reached(seen + 1));
    }
  }

 private:
  static bool is_copying(world::Sequence copy) { return copy % 2 != 0; }
  [[noreturn]] static void tell_of(int owner);

  Counters copies_;  // beginnings and ends
  Counters left_;    // stands where it stood at the beginning until its owner leaves
  world::Sequence start_;
  world::Sequence copy_;
};

}  // namespace huddle::node
