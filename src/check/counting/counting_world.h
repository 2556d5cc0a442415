// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The world in which a protocol is counted: the ranks take turns round and round, an operation on a
// flag each, and every line that one takes from another is noted. The same job gives the same
// counts, always.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "check/checker/memory.h"
#include "runtime/context/sequence.h"
#include "runtime/context/world.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/reduction.h"

namespace huddle::verify::counting {

// What a protocol asked of the machine, in numbers.
struct RankCounts {
  std::size_t loads = 0;  // of flags, that saw something new: looks that saw the same do not count
  std::size_t stores = 0;
  std::size_t updates = 0;  // atomic read-modify-writes
  std::size_t fences = 0;
  std::size_t orderings = 0;  // of what the caller stored non-temporally
  std::size_t wakes = 0;
  std::array<std::size_t, memory::copy_kernels.size()> copied_bytes{};  // by kernel
  std::size_t reduced_bytes = 0;                                        // of results
  std::size_t asked_bytes = 0;  // that are to be written next (prefetch_write)
  std::size_t pulls = 0;
  std::size_t pulled_bytes = 0;
  std::size_t pushes = 0;
  std::size_t pushed_bytes = 0;

  RankCounts& operator-=(const RankCounts& less);
  bool operator==(const RankCounts&) const = default;
};

struct Counts {
  explicit Counts(int ranks)
      : of(static_cast<std::size_t>(ranks)), transfers_(of.size() * of.size()), ranks_(of.size()) {}

  // Lines that went from the cache of one rank to that of another.
  std::size_t transfers(int from, int to) const { return transfers_[at(from, to)]; }
  std::size_t all_transfers() const;
  void add_transfer(int from, int to) { ++transfers_[at(from, to)]; }

  // What a job did more than one that does the same but for its end. pre: as many ranks.
  Counts& operator-=(const Counts& less);
  bool operator==(const Counts&) const = default;

  std::vector<RankCounts> of;  // each rank

 private:
  std::size_t at(int from, int to) const {
    return static_cast<std::size_t>(from) * ranks_ + static_cast<std::size_t>(to);
  }

  std::vector<std::size_t> transfers_;
  std::size_t ranks_;
};

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
