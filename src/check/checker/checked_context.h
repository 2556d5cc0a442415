// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The context in which a protocol is model-checked: one rank's view of a simulated team whose
// ranks, stores and sleeping ranks are interleaved in every order (checker.h). Operations record
// their call site, for failure reports and to let a mutation modify a single call.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "check/checker/checked_execution.h"
#include "check/checker/site.h"
#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/reduction.h"

namespace huddle::check::checker {

// Offsets of one call's buffers in a rank's input and output, as its caller passed them.
struct Buffers {
  std::size_t input = 0;
  std::size_t output = 0;
  // The input is the output, from `input` bytes on.
  bool in_place = false;
};

// The value that wait() saw. Converting it to a number records that the rank depends on it.
class ObservedValue {
 public:
  ObservedValue(Execution& execution, int rank, context::Sequence seen)
      : execution_(execution), rank_(rank), seen_(seen) {}

  operator context::Sequence() const {
    execution_.observe(rank_, seen_);
    return seen_;
  }

 private:
  Execution& execution_;
  int rank_;
  context::Sequence seen_;
};

class CheckedContext {
 public:
  CheckedContext(Execution& execution, int rank) : execution_(execution), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const { return execution_.ranks(); }

  // Sets the buffers of the following operations.
  void use(const Buffers& buffers) { buffers_ = buffers; }

  context::Sequence load(context::Address flag, Where where = Where::current());
  void store(context::Address flag, context::Sequence value, Where where = Where::current());
  // All ranks make equal calls here. If the owner of a flag stores it again before a peer has
  // waited for it, the stamp would no longer match; here the peer waits forever, which is detected.
  void store_stamped(context::Address flag, context::Sequence value,
                     Where where = Where::current()) {
    store(flag, value, where);
  }
  ObservedValue wait_stamped(context::Address flag, context::Until until,
                             Where where = Where::current());
  void record_stamp(context::Address /*place*/) {}
  void compare_stamp(context::Address /*place*/) {}
  context::Sequence fetch_add(context::Address flag, context::Sequence amount,
                              Where where = Where::current());
  context::Sequence fetch_sub(context::Address flag, context::Sequence amount,
                              Where where = Where::current());
  void fence(Where where = Where::current());
  ObservedValue wait(context::Address flag, context::Until until, Where where = Where::current());
  // If several flags satisfy their conditions, each of them is returned in some execution.
  int wait_any(std::span<const context::AwaitedFlag> awaited, Where where = Where::current());
  void wait_all(std::span<const context::Address> flags, context::Until until,
                Where where = Where::current());
  void prefetch_write(context::Address place, std::size_t n, Where where = Where::current());
  void copy(context::Address to, context::Address from, std::size_t n, memory::CopyKernel kernel,
            Where where = Where::current());
  void copy_and_own(context::Address to, context::Address from, std::size_t n,
                    Where where = Where::current());
  void own(context::Address place, std::size_t n, Where where = Where::current());
  void reduce(context::Address to, context::Address left, context::Address right, std::size_t count,
              const memory::Reduction& reduction, Where where = Where::current());
  // Only wake() ends a sleep here, so that a lost wake-up is detected.
  void sleep(context::Address flag, context::Sequence value, Where where = Where::current());
  void wake(context::Address flag, Where where = Where::current());
  bool expose(context::Address at, context::Address what, Where where = Where::current());
  void order_callers_stores(Where where = Where::current());
  // A reached place keeps its own address.
  std::optional<context::Address> map_exposed(context::Address at, Where where = Where::current());
  // If the job allows path failures, both fail one or more times in some execution.
  single_copy::ErrorNumber pull(context::Address to, context::Address at, std::size_t offset,
                                std::size_t n, Where where = Where::current());
  single_copy::ErrorNumber push(context::Address at, std::size_t offset, context::Address from,
                                std::size_t n, Where where = Where::current());

  // Models a store by the protocol's caller: it has stored what is there non-temporally, and no
  // fence has ordered that yet.
  void store_as_caller(context::Address place, std::size_t n, Where where = Where::current());

  // No rank dies here, so this is like any wait.
  void wait_or_owner_death(context::Address flag, context::Until until,
                           Where where = Where::current()) {
    wait(flag, until, where);
  }

  // Returns how many pulls and pushes of this rank have failed so far.
  int path_failures() const { return execution_.path_failures(rank_); }

 private:
  ObservedValue wait_as_planned(context::Address flag, context::Until until, context::Until right,
                                const Where& where);
  context::Address placed(context::Address place) const;
  context::Address next_owners(context::Address place) const {
    return {place.region, (place.owner + 1) % ranks(), place.offset};
  }
  context::Sequence update(Operation operation, context::Address flag, context::Sequence add,
                           const Where& where);

  Execution& execution_;
  int rank_;
  Buffers buffers_;
};
static_assert(context::SleepingContext<CheckedContext> &&
              context::SingleCopyContext<CheckedContext>);

}  // namespace huddle::check::checker
