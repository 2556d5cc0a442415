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

#include "check/checker/memory.h"
#include "check/counting/counts.h"
#include "runtime/context/address.h"
#include "runtime/context/awaited_flag.h"
#include "runtime/context/sequence.h"
#include "runtime/context/world.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/reduction.h"

namespace huddle::verify::counting {

class Round;

class CountingWorld {
 public:
  CountingWorld(Round& round, int rank) : round_(round), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const;

  world::Sequence load(world::Address flag);
  void store(world::Address flag, world::Sequence value);
  // All ranks make equal calls here, and a stamp moves with its flag's line.
  void store_stamped(world::Address flag, world::Sequence value) { store(flag, value); }
  world::Sequence wait_stamped(world::Address flag, world::Until until) {
    return wait(flag, until);
  }
  void keep_stamp(world::Address /*place*/) {}
  void compare_stamp(world::Address /*place*/) {}
  world::Sequence fetch_add(world::Address flag, world::Sequence amount);
  world::Sequence fetch_sub(world::Address flag, world::Sequence amount) {
    return fetch_add(flag, world::Sequence{0} - amount);
  }
  void fence();
  world::Sequence wait(world::Address flag, world::Until until);
  int wait_any(std::span<const world::AwaitedFlag> awaited);
  void wait_all(std::span<const world::Address> flags, world::Until until);
  // Nothing is slow here: no line moves.
  void prefetch_write(world::Address, std::size_t n) { counts().asked_bytes += n; }
  void copy(world::Address to, world::Address from, std::size_t n, memory::CopyKernel kernel);
  void take(world::Address to, world::Address from, std::size_t n);
  void keep(world::Address place, std::size_t n);
  void reduce(world::Address to, world::Address left, world::Address right, std::size_t count,
              const memory::Reduction& reduction);
  // Until the flag moves on: what that takes is somebody's store, woken or not.
  void sleep(world::Address flag, world::Sequence value);
  void wake(world::Address flag);
  bool expose(world::Address at, world::Address what);
  void order_callers_stores() { ++counts().orderings; }
  std::optional<world::Address> reach(world::Address at);
  single_copy::ErrorNumber pull(world::Address to, world::Address at, std::size_t offset,
                                std::size_t bytes);
  single_copy::ErrorNumber push(world::Address at, std::size_t offset, world::Address from,
                                std::size_t bytes);
  // Nobody dies here.
  void outlast(world::Address flag, world::Until until) { wait(flag, until); }

 private:
  RankCounts& counts() const;
  world::Address what_is_exposed(world::Address at) const;

  Round& round_;
  int rank_;
};
static_assert(world::SleepingWorld<CountingWorld> && world::SingleCopyWorld<CountingWorld>);

struct Job {
  int ranks = 2;
  checker::Sizes sizes;
  // What every word of Region::shared holds at the beginning.
  world::Sequence first = world::first_sequence;
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

}  // namespace huddle::verify::counting
