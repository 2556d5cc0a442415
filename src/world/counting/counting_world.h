// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The world in which a protocol is counted: the ranks take turns round and round, an operation on a
// flag each, and every line that one takes from another is noted. The same job gives the same
// counts, always.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "memory/copy.h"
#include "memory/reduction.h"
#include "world/awaited.h"
#include "world/checker/memory.h"
#include "world/counting/counts.h"
#include "world/place.h"
#include "world/sequence.h"
#include "world/world.h"

namespace huddle::world::counting {

class Round;

class CountingWorld {
 public:
  CountingWorld(Round& round, int rank) : round_(round), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const;

  Sequence load(Place flag);
  void store(Place flag, Sequence value);
  Sequence fetch_add(Place flag, Sequence amount);
  Sequence fetch_sub(Place flag, Sequence amount) { return fetch_add(flag, Sequence{0} - amount); }
  void fence();
  Sequence wait(Place flag, Until until);
  int wait_any(std::span<const Awaited> awaited);
  void wait_all(std::span<const Place> flags, Until until);
  // Nothing is slow here: no line moves.
  void prefetch_write(Place, std::size_t n) { counts().asked_bytes += n; }
  void copy(Place to, Place from, std::size_t n, memory::CopyKernel kernel);
  void take(Place to, Place from, std::size_t n);
  void keep(Place place, std::size_t n);
  void reduce(Place to, Place left, Place right, std::size_t count,
              const memory::Reduction& reduction);
  // Until the flag moves on: what that takes is somebody's store, woken or not.
  void sleep(Place flag, Sequence value);
  void wake(Place flag);
  bool expose(Place at, Place what);
  void order_callers_stores() { ++counts().orderings; }
  std::optional<Place> reach(Place at);
  path::ErrorNumber pull(Place to, Place at, std::size_t offset, std::size_t bytes);
  path::ErrorNumber push(Place at, std::size_t offset, Place from, std::size_t bytes);
  // Nobody dies here.
  void outlast(Place flag, Until until) { wait(flag, until); }

 private:
  RankCounts& counts() const;
  Place what_is_exposed(Place at) const;

  Round& round_;
  int rank_;
};
static_assert(SleepingWorld<CountingWorld> && SingleCopyWorld<CountingWorld>);

struct Job {
  int ranks = 2;
  checker::Sizes sizes;
  // What every word of Region::shared holds at the beginning.
  Sequence first = first_sequence;
  // Whether ranks reach what others expose, or have to pull it.
  bool reachable = false;
  // What each rank does.
  std::function<void(CountingWorld&)> body;
  // Fills the inputs; looks at the results. May be empty.
  std::function<void(checker::Memory&)> prepare;
  std::function<void(const checker::Memory&)> look;
};

// Runs the job once. Throws what a body throws, UsageError where a rank leaves its memory, and
// FailureError where nobody can go on.
Counts count(const Job& job);

}  // namespace huddle::world::counting
