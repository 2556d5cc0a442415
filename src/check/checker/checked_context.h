// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The context in which a protocol is model-checked: one rank's view of a simulated team. The
// checker (checker.h) varies the order of the ranks' operations and when their stores become
// visible. Operations record their call site, for failure reports and to let a mutation modify a
// single call.
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

// Offsets of one call's buffers in a rank's input and output regions.
struct Buffers {
  std::size_t input = 0;
  std::size_t output = 0;
  // The input is part of the output buffer, from its byte `input` on.
  bool in_place = false;
};

// The flag's value that ended a wait. Converting it to a number records that the rank depends on
// it.
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
  // There are no stamps here, because all ranks pass equal arguments. But the owner of a flag must
  // not store it again before the peer has waited for it: wait_stamped() then waits forever, which
  // the checker detects.
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
  // Returns the exposed address itself, because nothing is mapped here.
  std::optional<context::Address> map_exposed(context::Address at, Where where = Where::current());
  // pull() and push() fail in some executions if the job allows path failures.
  single_copy::ErrorNumber pull(context::Address to, context::Address at, std::size_t offset,
                                std::size_t n, Where where = Where::current());
  single_copy::ErrorNumber push(context::Address at, std::size_t offset, context::Address from,
                                std::size_t n, Where where = Where::current());

  // Models non-temporal stores of the protocol's caller to these bytes, which no fence has ordered
  // yet.
  void store_as_caller(context::Address place, std::size_t n, Where where = Where::current());

  // Equivalent to wait(), because no rank dies here.
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
    return {place.region(), (place.owner() + 1) % ranks(), place.offset};
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
