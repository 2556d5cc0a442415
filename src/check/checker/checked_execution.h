// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs the executions of a job one after another. Ranks are fibers, and a chooser selects the next
// rank at every operation on a flag. Operations on data are not scheduling points: they are checked
// for races, and without races their result does not depend on the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/checker/abstract_machine.h"
#include "check/checker/chooser.h"
#include "check/checker/job.h"
#include "check/checker/memory.h"
#include "check/checker/site.h"
#include "runtime/context/fiber.h"
#include "runtime/memory/reduction.h"

namespace huddle::check::checker {

// A condition that a rank waits for.
struct Condition {
  context::Until until;
  bool plain_compare = false;  // a mutation: >=, which is wrong if numbers wrap

  bool holds(context::Sequence seen) const {
    return plain_compare ? seen >= until.value : until.holds(seen);
  }
};

// Faults that can be planted at a call site.
struct SiteFaults {
  Site site;
  FaultSet faults;
};

class Execution : private ErrorReporter {
 public:
  Execution(const Job& job, const Options& options);

  // Runs one execution. Returns the failure, if any.
  std::optional<Failure> run(Chooser& chooser, bool tracing);
  // Returns whether the latest execution revealed a property of the job because of which earlier
  // results must be computed again. The next call returns false unless there is another one.
  bool take_news() { return machine_.take_news(); }
  // Returns the call sites that executions have reached so far, with the faults that apply to them.
  const std::vector<SiteFaults>& sites() const { return sites_; }

  // Used by CheckedContext.
  int ranks() const { return job_.ranks; }
  // Returns the fault that the active mutation plants at this site, if it is one of `sensible`.
  // Without a mutation, records the site and `sensible`.
  std::optional<Fault> fault_at(const Site& site, const FaultSet& sensible);
  // Records that the rank uses a value that it saw. States that differ only in values that were
  // seen but not used are equal.
  void observe(int rank, context::Sequence seen);
  context::Sequence load(const Call& call, context::Address flag, Strength strength);
  void store(const Call& call, context::Address flag, context::Sequence value, Strength strength);
  context::Sequence update(const Call& call, context::Address flag, context::Sequence add,
                           Strength strength);
  void fence(const Call& call);
  // Does not call observe(), because the rank may ignore the value.
  context::Sequence wait(const Call& call, context::Address flag, const Condition& condition,
                         Strength strength);
  int wait_any(const Call& call, std::span<const context::Address> flags,
               std::vector<Condition> conditions, Strength strength);
  void prefetch_write(const Call& call, context::Address place, std::size_t n);
  void copy(const Call& call, context::Address to, context::Address from, std::size_t n,
            bool unfenced);
  void copy_and_own(const Call& call, context::Address to, context::Address from, std::size_t n);
  void own(const Call& call, context::Address place, std::size_t n);
  void order_callers_stores(const Call& call);
  void store_as_caller(const Call& call, context::Address place, std::size_t n);
  void reduce(const Call& call, context::Address to, context::Address left, context::Address right,
              std::size_t count, const memory::Reduction& reduction);
  void expose(const Call& call, context::Address at, context::Address what);
  std::optional<context::Address> map_exposed(const Call& call, context::Address at);
  bool is_reachable(int owner) const { return job_.reachable && job_.reachable(owner); }
  // Return whether the path worked.
  bool pull(const Call& call, context::Address to, context::Address at, std::size_t offset,
            std::size_t n);
  bool push(const Call& call, context::Address at, std::size_t offset, context::Address from,
            std::size_t n);
  // Returns how many pulls and pushes of this rank failed in this execution.
  int path_failures(int rank) const { return of(rank).path_failures; }
  void sleep(const Call& call, context::Address flag, context::Sequence value);
  void wake(const Call& call, context::Address flag);

 private:
  // Thrown to unwind a rank's stack when the execution is abandoned.
  struct Abandoned {};

  struct Rank {
    enum class State : std::uint8_t { ready, waiting, asleep, ended };
    State state = State::ready;
    bool begun = false;
    Call call;                            // current call
    std::vector<context::Address> flags;  // flags that its next operation accesses
    bool writes = false;                  // whether that operation stores to one
    // The rank was preempted before that operation, and since then no other rank's operation has
    // conflicted with it.
    bool set_aside = false;
    std::vector<Condition> conditions;  // by awaited flag
    std::uint64_t history = 0;          // digest of all values that it has seen
    int path_failures = 0;
  };

  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  int live(int rank);
  int next_to_live() const;
  int next_to_unwind() const;
  bool enter(const Call& call);
  void take_turn(const Call& call, std::span<const context::Address> flags, bool writes);
  void go_on(int rank);
  int next_rank(int current);
  void list_alternatives(int current);
  void list_stores(bool also_unpassed);
  void set_aside(int rank);
  void bring_back(std::span<const context::Address> flags, bool writes);
  void bring_back_all();
  bool can_go_on(int rank) const;
  std::vector<std::size_t> holding(int rank) const;
  context::Sequence see(const Call& call, context::Address flag, Strength strength);
  const Alternative& choose();
  std::size_t ask_chooser();
  bool chooses_to_hold(int rank);
  bool chooses_to_refuse(int rank);
  bool path_works(int rank);
  std::size_t chosen_flag(int rank, std::span<const std::size_t> holding);
  std::uint64_t state() const;
  void step(int rank);
  void end_and_verify();

  [[noreturn]] void fail(const std::string& what) override;
  [[noreturn]] void fail(const Conflict& conflict) override;
  void record(const std::string& what);
  [[noreturn]] void report_stall();
  std::string waiting_text(int rank) const;
  Trace::Touched touched(context::Address place, std::size_t n) const;

  const Job& job_;
  const Options& options_;
  Memory memory_;
  Machine machine_;
  context::Fibers fibers_;
  std::vector<Rank> ranks_;
  std::vector<Alternative> alternatives_;
  std::vector<SiteFaults> sites_;
  Trace trace_;
  Chooser* chooser_ = nullptr;
  int turn_ = context::Fibers::host;  // rank that continues unless it is preempted
  std::string choices_;
  std::size_t choice_count_ = 0;
  std::size_t steps_ = 0;
  bool abandoned_ = false;
  std::exception_ptr chooser_error_;
  std::optional<Failure> failure_;
};

}  // namespace huddle::check::checker
