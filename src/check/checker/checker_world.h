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

#include "check/checker/execution.h"
#include "check/checker/site.h"
#include "runtime/context/sequence.h"
#include "runtime/context/world.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/reduction.h"

namespace huddle::verify::checker {

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
  Glance(Execution& execution, int rank, world::Sequence seen)
      : execution_(execution), rank_(rank), seen_(seen) {}

  operator world::Sequence() const {
    execution_.observe(rank_, seen_);
    return seen_;
  }

 private:
  Execution& execution_;
  int rank_;
  world::Sequence seen_;
};

class CheckerWorld {
 public:
  CheckerWorld(Execution& execution, int rank) : execution_(execution), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const { return execution_.ranks(); }

  // Of the operations from here on.
  void use(const Buffers& buffers) { buffers_ = buffers; }

  world::Sequence load(world::Address flag, Where where = Where::current());
  void store(world::Address flag, world::Sequence value, Where where = Where::current());
  // All ranks make equal calls here. A flag that its owner stores again before a rank has waited
  // for it would have another stamp by then: here the rank waits forever, which is found.
  void store_stamped(world::Address flag, world::Sequence value, Where where = Where::current()) {
    store(flag, value, where);
  }
  Glance wait_stamped(world::Address flag, world::Until until, Where where = Where::current());
  void keep_stamp(world::Address /*place*/) {}
  void compare_stamp(world::Address /*place*/) {}
  world::Sequence fetch_add(world::Address flag, world::Sequence amount,
                            Where where = Where::current());
  world::Sequence fetch_sub(world::Address flag, world::Sequence amount,
                            Where where = Where::current());
  void fence(Where where = Where::current());
  Glance wait(world::Address flag, world::Until until, Where where = Where::current());
  // Where several hold, each of them is returned in some execution.
  int wait_any(std::span<const world::AwaitedFlag> awaited, Where where = Where::current());
  void wait_all(std::span<const world::Address> flags, world::Until until,
                Where where = Where::current());
  void prefetch_write(world::Address place, std::size_t n, Where where = Where::current());
  void copy(world::Address to, world::Address from, std::size_t n, memory::CopyKernel kernel,
            Where where = Where::current());
  void take(world::Address to, world::Address from, std::size_t n, Where where = Where::current());
  void keep(world::Address place, std::size_t n, Where where = Where::current());
  void reduce(world::Address to, world::Address left, world::Address right, std::size_t count,
              const memory::Reduction& reduction, Where where = Where::current());
  // Nothing but a wake() ends a sleep here: one that is lost is found.
  void sleep(world::Address flag, world::Sequence value, Where where = Where::current());
  void wake(world::Address flag, Where where = Where::current());
  bool expose(world::Address at, world::Address what, Where where = Where::current());
  void order_callers_stores(Where where = Where::current());
  // What is reached keeps its own name.
  std::optional<world::Address> reach(world::Address at, Where where = Where::current());
  // Both fail where the job says that paths may, once or more in some execution.
  single_copy::ErrorNumber pull(world::Address to, world::Address at, std::size_t offset,
                                std::size_t n, Where where = Where::current());
  single_copy::ErrorNumber push(world::Address at, std::size_t offset, world::Address from,
                                std::size_t n, Where where = Where::current());

  // What the caller of a protocol has done, not the protocol: it stored there what is there, past
  // the caches, and nothing has ordered that yet.
  void store_as_caller(world::Address place, std::size_t n, Where where = Where::current());

  // Nobody dies here: like any wait.
  void outlast(world::Address flag, world::Until until, Where where = Where::current()) {
    wait(flag, until, where);
  }

  // How many of this rank's pulls and pushes have failed so far.
  int path_failures() const { return execution_.path_failures(rank_); }

 private:
  Glance wait_as_planned(world::Address flag, world::Until until, world::Until right,
                         const Where& where);
  world::Address placed(world::Address place) const;
  world::Address next_owners(world::Address place) const {
    return {place.region, (place.owner + 1) % ranks(), place.offset};
  }
  world::Sequence update(Operation operation, world::Address flag, world::Sequence add,
                         const Where& where);

  Execution& execution_;
  int rank_;
  Buffers buffers_;
};
static_assert(world::SleepingWorld<CheckerWorld> && world::SingleCopyWorld<CheckerWorld>);

}  // namespace huddle::verify::checker
