// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The world in which a protocol is checked: one rank's view of a simulated team whose ranks, stores
// and sleepers take turns in every order (explore.h). Operations know from where they are called,
// so that a failure can say so and a mutation (survey.h) can change one of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "memory/copy.h"
#include "memory/reduction.h"
#include "world/awaited.h"
#include "world/checker/execution.h"
#include "world/checker/site.h"
#include "world/place.h"
#include "world/sequence.h"
#include "world/world.h"

namespace huddle::world::checker {

// Where one call's buffers lie in a rank's input and output: what its caller handed in.
struct Buffers {
  std::size_t input = 0;
  std::size_t output = 0;
  // The input is what stands in the output, from `input` bytes on.
  bool in_place = false;
};

// What wait() saw. Whoever makes a number of it has looked at it; most do not.
class Glance {
 public:
  Glance(Execution& execution, int rank, Sequence seen)
      : execution_(execution), rank_(rank), seen_(seen) {}

  operator Sequence() const {
    execution_.observe(rank_, seen_);
    return seen_;
  }

 private:
  Execution& execution_;
  int rank_;
  Sequence seen_;
};

class CheckerWorld {
 public:
  CheckerWorld(Execution& execution, int rank) : execution_(execution), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const { return execution_.ranks(); }

  // Of the operations from here on.
  void use(const Buffers& buffers) { buffers_ = buffers; }

  Sequence load(Place flag, Where where = Where::current());
  void store(Place flag, Sequence value, Where where = Where::current());
  Sequence fetch_add(Place flag, Sequence amount, Where where = Where::current());
  Sequence fetch_sub(Place flag, Sequence amount, Where where = Where::current());
  void fence(Where where = Where::current());
  Glance wait(Place flag, Until until, Where where = Where::current());
  // Where several hold, each of them is returned in some execution.
  int wait_any(std::span<const Awaited> awaited, Where where = Where::current());
  void wait_all(std::span<const Place> flags, Until until, Where where = Where::current());
  void prefetch_write(Place place, std::size_t n, Where where = Where::current());
  void copy(Place to, Place from, std::size_t n, memory::CopyKernel kernel,
            Where where = Where::current());
  void take(Place to, Place from, std::size_t n, Where where = Where::current());
  void keep(Place place, std::size_t n, Where where = Where::current());
  void reduce(Place to, Place left, Place right, std::size_t count,
              const memory::Reduction& reduction, Where where = Where::current());
  // Nothing but a wake() ends a sleep here: one that is lost is found.
  void sleep(Place flag, Sequence value, Where where = Where::current());
  void wake(Place flag, Where where = Where::current());
  bool expose(Place at, Place what, Where where = Where::current());
  void order_callers_stores(Where where = Where::current());
  // What is reached keeps its own name.
  std::optional<Place> reach(Place at, Where where = Where::current());
  // Both fail where the job says that paths may, once or more in some execution.
  path::ErrorNumber pull(Place to, Place at, std::size_t offset, std::size_t n,
                         Where where = Where::current());
  path::ErrorNumber push(Place at, std::size_t offset, Place from, std::size_t n,
                         Where where = Where::current());

  // What the caller of a protocol has done, not the protocol: it stored there what is there, past
  // the caches, and nothing has ordered that yet.
  void store_as_caller(Place place, std::size_t n, Where where = Where::current());

  // Nobody dies here: like any wait.
  void outlast(Place flag, Until until, Where where = Where::current()) {
    wait(flag, until, where);
  }

  // How many of this rank's pulls and pushes have failed so far.
  int path_failures() const { return execution_.path_failures(rank_); }

 private:
  Place placed(Place place) const;
  Place next_owners(Place place) const {
    return {place.region, (place.owner + 1) % ranks(), place.offset};
  }
  Sequence update(Operation operation, Place flag, Sequence add, const Where& where);

  Execution& execution_;
  int rank_;
  Buffers buffers_;
};
static_assert(SleepingWorld<CheckerWorld> && SingleCopyWorld<CheckerWorld>);

}  // namespace huddle::world::checker
