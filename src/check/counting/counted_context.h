// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The context in which a protocol's operations and cache line transfers are counted. Ranks take
// turns cyclically, one flag operation each. The same job always yields the same counts.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "check/checker/memory.h"
#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/reduction.h"

namespace huddle::check::counting {

// Operations that one rank requested.
struct RankCounts {
  // loads of flags that returned a new value; repeated loads of the same value do not count
  std::size_t loads = 0;
  std::size_t stores = 0;
  std::size_t updates = 0;  // atomic read-modify-writes
  std::size_t fences = 0;
  std::size_t orderings = 0;  // of the caller's non-temporal stores
  std::size_t wakes = 0;
  std::array<std::size_t, memory::copy_kernels.size()> copied_bytes{};  // by kernel
  std::size_t reduced_bytes = 0;                                        // bytes of results
  std::size_t prefetched_bytes = 0;  // prefetched for writing (prefetch_write)
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

  // Returns the number of cache lines that moved from one rank's cache to another's.
  std::size_t transfers(int from, int to) const { return transfers_[at(from, to)]; }
  std::size_t all_transfers() const;
  void add_transfer(int from, int to) { ++transfers_[at(from, to)]; }

  // Subtracts the counts of a job that is a prefix of this one, which leaves those of the rest.
  // Requires: both have the same number of ranks.
  Counts& operator-=(const Counts& less);
  bool operator==(const Counts&) const = default;

  std::vector<RankCounts> of;  // by rank

 private:
  std::size_t at(int from, int to) const {
    return static_cast<std::size_t>(from) * ranks_ + static_cast<std::size_t>(to);
  }

  std::vector<std::size_t> transfers_;
  std::size_t ranks_;
};

class Round;

class CountedContext {
 public:
  CountedContext(Round& round, int rank) : round_(round), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const;

  context::Sequence load(context::Address flag);
  void store(context::Address flag, context::Sequence value);
  // There are no stamps here: a stamp shares the cache line of its flag, so it would not change the
  // counts.
  void store_stamped(context::Address flag, context::Sequence value) { store(flag, value); }
  context::Sequence wait_stamped(context::Address flag, context::Until until) {
    return wait(flag, until);
  }
  void record_stamp(context::Address /*place*/) {}
  void compare_stamp(context::Address /*place*/) {}
  context::Sequence fetch_add(context::Address flag, context::Sequence amount);
  context::Sequence fetch_sub(context::Address flag, context::Sequence amount) {
    return fetch_add(flag, context::Sequence{0} - amount);
  }
  void fence();
  context::Sequence wait(context::Address flag, context::Until until);
  int wait_any(std::span<const context::AwaitedFlag> awaited);
  void wait_all(std::span<const context::Address> flags, context::Until until);
  // Time is not simulated, so a prefetch transfers no line; the access that follows does.
  void prefetch_write(context::Address, std::size_t n) { counts().prefetched_bytes += n; }
  void copy(context::Address to, context::Address from, std::size_t n, memory::CopyKernel kernel);
  void copy_and_own(context::Address to, context::Address from, std::size_t n);
  void own(context::Address place, std::size_t n);
  void reduce(context::Address to, context::Address left, context::Address right, std::size_t count,
              const memory::Reduction& reduction);
  // Returns once the flag has changed. A store by another rank suffices; no wake-up is needed.
  void sleep(context::Address flag, context::Sequence value);
  void wake(context::Address flag);
  bool expose(context::Address at, context::Address what);
  void order_callers_stores() { ++counts().orderings; }
  std::optional<context::Address> map_exposed(context::Address at);
  single_copy::ErrorNumber pull(context::Address to, context::Address at, std::size_t offset,
                                std::size_t bytes);
  single_copy::ErrorNumber push(context::Address at, std::size_t offset, context::Address from,
                                std::size_t bytes);
  // Equivalent to wait(), because no rank dies here.
  void wait_or_owner_death(context::Address flag, context::Until until) { wait(flag, until); }

 private:
  RankCounts& counts() const;
  context::Address what_is_exposed(context::Address at) const;

  Round& round_;
  int rank_;
};
static_assert(context::SleepingContext<CountedContext> &&
              context::SingleCopyContext<CountedContext>);

struct Job {
  int ranks = 2;
  checker::Sizes sizes;
  // Initial value of each word in Region::shared.
  context::Sequence first = context::first_sequence;
  // True if ranks can map exposed memory, false if they must pull it.
  bool reachable = false;
  // Body of each rank.
  std::function<void(CountedContext&)> body;
  // Fill the inputs before the run and inspect the results after it. May be empty.
  std::function<void(checker::Memory&)> prepare;
  std::function<void(const checker::Memory&)> look;
};

// Runs the job once. Throws what a body throws, UsageError if a rank accesses memory out of its
// reach, and FailureError if all ranks are blocked.
Counts count(const Job& job);

}  // namespace huddle::check::counting
