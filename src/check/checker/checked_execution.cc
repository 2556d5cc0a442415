// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Scheduling and the end of an execution. The operations of the ranks are in operations.cc.

#include "check/checker/checked_execution.h"

#include <fmt/format.h>
#include <algorithm>
#include <exception>
#include <utility>

#include "check/checker/checked_context.h"
#include "check/checker/memory.h"
#include "check/checker/site.h"

namespace huddle::check::checker {
Execution::Execution(const Job& job, const Options& options)
    : job_(job),
      options_(options),
      memory_(job.ranks, job.sizes, job.first),
      machine_(memory_, options.order, *this),
      fibers_(job.ranks) {
  if (job.prepare) job.prepare(memory_);
  memory_.keep_as_image();
}

std::optional<Failure> Execution::run(Chooser& chooser, bool tracing) {
  machine_.begin_execution();
  trace_.begin(tracing);
  ranks_.assign(static_cast<std::size_t>(job_.ranks), Rank{});
  chooser_ = &chooser;
  choices_.clear();
  choice_count_ = steps_ = 0;
  abandoned_ = false;
  failure_.reset();
  const context::Fibers::Body body = [this](int rank) { return live(rank); };
  try {
    const int first = next_rank(context::Fibers::host);
    fibers_.run(first, body);
    if (!abandoned_) end_and_verify();
  } catch (const Abandoned&) {  // thrown before any rank began, or in the verification
  }
  if (chooser_error_) std::rethrow_exception(std::exchange(chooser_error_, nullptr));
  return failure_;
}

// Runs the body of a rank to its end. Returns the rank to switch to.
int Execution::live(int rank) {
  Rank& me = of(rank);
  me.begun = true;
  try {
    CheckedContext world(*this, rank);
    job_.body(world);
    me.state = Rank::State::ended;
    return next_rank(rank);
  } catch (const Abandoned&) {
  } catch (const std::exception& error) {
    record(fmt::format("rank {} threw: {}", rank, error.what()));
  } catch (...) {
    record(fmt::format("rank {} threw something", rank));
  }
  me.state = Rank::State::ended;
  return next_to_unwind();
}

// Returns a rank that has not ended, or the host if all have.
int Execution::next_to_live() const {
  for (int rank = 0; rank < job_.ranks; ++rank) {
    if (of(rank).state != Rank::State::ended) return rank;
  }
  return context::Fibers::host;
}

// Returns a rank that has begun but not ended, or the host. When an execution is abandoned, each
// such rank must unwind its stack.
int Execution::next_to_unwind() const {
  for (int rank = 0; rank < job_.ranks; ++rank) {
    if (of(rank).begun && of(rank).state != Rank::State::ended) return rank;
  }
  return context::Fibers::host;
}

// Begins an operation. Returns false if it must be ignored because a destructor calls it while the
// rank's stack unwinds. Throws Abandoned if the execution has been abandoned.
bool Execution::enter(const Call& call) {
  if (abandoned_) {
    if (std::uncaught_exceptions() > 0) return false;
    throw Abandoned{};
  }
  of(call.rank).call = call;
  return true;
}

// Blocks until the chooser selects this rank's operation as the next one.
void Execution::take_turn(const Call& call, std::span<const context::Address> flags, bool writes) {
  Rank& me = of(call.rank);
  me.flags.assign(flags.begin(), flags.end());
  me.writes = writes;
  go_on(call.rank);
  me.set_aside = false;
  bring_back(flags, writes);
}

void Execution::go_on(int rank) {
  if (++steps_ > options_.max_steps) {
    fail(fmt::format("no end after {} operations: a loop that polls has to wait instead",
                     options_.max_steps));
  }
  const int next = next_rank(rank);
  if (next == rank) return;
  fibers_.switch_to(next);
  if (abandoned_) throw Abandoned{};
}

// Returns the rank that runs next, or the host if all have ended.
int Execution::next_rank(int current) {
  for (;;) {
    list_alternatives(current);
    if (alternatives_.empty()) {
      if (next_to_live() == context::Fibers::host) return context::Fibers::host;
      report_stall();
    }
    const Alternative chosen = choose();
    if (chosen.kind == Alternative::Kind::run) {
      if (chosen.cost > 0) set_aside(current);
      return chosen.rank;
    }
    const PendingStore& store = machine_.pending(chosen.rank)[chosen.index];
    if (trace_.on()) {
      trace_.note({chosen.rank, {}}, fmt::format("{} becomes visible", text_of(store.place)));
    }
    machine_.let_go(chosen.rank, chosen.index);
    bring_back_all();
  }
}

// Lists what can happen next. The current rank comes first, and preempting it costs budget. A
// preempted rank is set aside while other ranks can run, unless one of them has executed an
// operation that conflicts with its own: until then, running it is equivalent to not preempting it,
// which is another execution.
void Execution::list_alternatives(int current) {
  alternatives_.clear();
  const bool goes_on = current != context::Fibers::host && can_go_on(current);
  turn_ = goes_on ? current : context::Fibers::host;
  if (goes_on) alternatives_.push_back({Alternative::Kind::run, current, 0, 0});
  for (const bool aside : {false, true}) {
    if (aside && !alternatives_.empty()) break;
    for (int rank = 0; rank < job_.ranks; ++rank) {
      if (rank == current || of(rank).set_aside != aside || !can_go_on(rank)) continue;
      alternatives_.push_back({Alternative::Kind::run, rank, 0, goes_on ? 1 : 0});
    }
  }
  if (next_to_live() != context::Fibers::host) list_stores(alternatives_.empty());
}

// A held store that no later operation of its rank has overtaken is equivalent to one that has not
// been executed yet, so it becomes visible only if nothing else can happen.
void Execution::list_stores(bool also_unpassed) {
  for (int rank = 0; rank < job_.ranks; ++rank) {
    for (std::size_t i = 0; i < machine_.pending(rank).size(); ++i) {
      const bool wanted = also_unpassed || machine_.pending(rank)[i].was_passed;
      if (!wanted || !machine_.may_be_let_go(rank, i)) continue;
      alternatives_.push_back({Alternative::Kind::let_go, rank, i, 0});
    }
  }
}

// A rank with pending stores is not set aside, because its operation may affect other flags too.
void Execution::set_aside(int rank) {
  of(rank).set_aside = !of(rank).flags.empty() && machine_.pending(rank).empty();
}

// Called when a rank accesses these flags: ranks whose operation conflicts are no longer set aside.
void Execution::bring_back(std::span<const context::Address> flags, bool writes) {
  for (Rank& rank : ranks_) {
    if (!rank.set_aside || !(writes || rank.writes)) continue;
    for (const context::Address flag : flags) {
      const auto same = std::find(rank.flags.begin(), rank.flags.end(), flag);
      if (same != rank.flags.end()) rank.set_aside = false;
    }
  }
}

void Execution::bring_back_all() {
  for (Rank& rank : ranks_) rank.set_aside = false;
}

bool Execution::can_go_on(int rank) const {
  switch (of(rank).state) {
    case Rank::State::ready:
      return true;
    case Rank::State::waiting:
      return !holding(rank).empty();
    case Rank::State::asleep:
    case Rank::State::ended:
      return false;
  }
  return false;
}

// Returns the indices of the awaited flags that satisfy their conditions.
std::vector<std::size_t> Execution::holding(int rank) const {
  const Rank& waiter = of(rank);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < waiter.flags.size(); ++i) {
    if (waiter.conditions[i].holds(machine_.peek(rank, waiter.flags[i]))) found.push_back(i);
  }
  return found;
}

const Alternative& Execution::choose() {
  if (alternatives_.size() == 1) return alternatives_.front();
  const std::size_t chosen = ask_chooser();
  if (chosen == Chooser::stop) {
    abandoned_ = true;
    throw Abandoned{};
  }
  if (chosen != 0) choices_ += fmt::format("{}:{} ", choice_count_, chosen);
  ++choice_count_;
  return alternatives_[chosen];
}

// An exception of the chooser is not an error of the protocol; run() rethrows it.
std::size_t Execution::ask_chooser() {
  try {
    return chooser_->choose(alternatives_, [this] { return state(); });
  } catch (...) {
    chooser_error_ = std::current_exception();
    return Chooser::stop;
  }
}

bool Execution::chooses_to_hold(int rank) {
  turn_ = rank;
  alternatives_ = {{Alternative::Kind::at_once, rank, 0, 0}, {Alternative::Kind::hold, rank, 0, 1}};
  return choose().kind == Alternative::Kind::hold;
}

bool Execution::chooses_to_refuse(int rank) {
  if (!job_.paths_may_fail) return false;
  turn_ = rank;
  alternatives_ = {{Alternative::Kind::copy, rank, 0, 0}, {Alternative::Kind::refuse, rank, 0, 1}};
  return choose().kind == Alternative::Kind::refuse;
}

bool Execution::path_works(int rank) {
  const bool refused = chooses_to_refuse(rank);
  observe(rank, refused ? 1 : 0);
  if (refused) ++of(rank).path_failures;
  return !refused;
}

std::size_t Execution::chosen_flag(int rank, std::span<const std::size_t> holding) {
  turn_ = rank;
  alternatives_.clear();
  for (const std::size_t index : holding) {
    alternatives_.push_back({Alternative::Kind::flag, rank, index, 0});
  }
  return choose().index;
}

// Returns a digest of the state. Ranks are deterministic, so the values that a rank has seen
// determine its position and its further operations.
std::uint64_t Execution::state() const {
  const Alternative& first = alternatives_.front();
  std::uint64_t digest = mixed(machine_.digest(), static_cast<std::uint64_t>(first.kind));
  digest = mixed(digest, static_cast<std::uint64_t>(first.rank));
  digest = mixed(digest, static_cast<std::uint64_t>(turn_));
  for (const Rank& rank : ranks_) {
    digest = mixed(digest, rank.history);
    digest = mixed(digest, 2 * static_cast<std::uint64_t>(rank.state) + (rank.set_aside ? 1 : 0));
  }
  return digest;
}

void Execution::observe(int rank, context::Sequence seen) {
  of(rank).history = mixed(of(rank).history, seen);
}

void Execution::step(int rank) { observe(rank, 0); }

void Execution::end_and_verify() {
  for (int rank = 0; rank < job_.ranks; ++rank) machine_.drain(rank);
  if (!job_.verify) return;
  const std::string wrong = job_.verify(memory_);
  if (!wrong.empty()) record("the result is wrong: " + wrong);
}

void Execution::fail(const std::string& what) {
  const int rank = fibers_.current();
  record(fmt::format("rank {}: {} [{}]", rank, what, text_of(of(rank).call.site)));
  throw Abandoned{};
}

void Execution::fail(const Conflict& conflict) {
  const context::Address place = memory_.place_at(conflict.byte);
  const std::string_view what = conflict.two_writers ? "two writers of the flag" : "a race at";
  std::string text = fmt::format("{} {}, rank {} was there before, and nothing orders the two",
                                 what, text_of(place), conflict.other);
  if (const auto site = trace_.last_touch(conflict.other, conflict.byte)) {
    text += fmt::format(" [{}]", text_of(*site));
  }
  Execution::fail(text);
}

// Only the first failure counts, because later ones follow from it.
void Execution::record(const std::string& what) {
  if (!abandoned_) failure_ = Failure{what, trace_.tail(options_.trace_events), choices_};
  abandoned_ = true;
}

void Execution::report_stall() {
  std::string text = "all ranks are blocked:";
  for (int rank = 0; rank < job_.ranks; ++rank) text += waiting_text(rank);
  record(text);
  throw Abandoned{};
}

std::string Execution::waiting_text(int rank) const {
  const Rank& waiter = of(rank);
  if (waiter.state == Rank::State::ended) return fmt::format("\n  rank {} has ended", rank);
  const bool asleep = waiter.state == Rank::State::asleep;
  std::string text = fmt::format("\n  rank {} {}", rank, asleep ? "sleeps at" : "waits for");
  for (std::size_t i = 0; i < waiter.flags.size(); ++i) {
    const context::Address flag = waiter.flags[i];
    text += ' ' + text_of(flag);
    if (!asleep) text += " until it " + text_of(waiter.conditions[i].until);
    text += fmt::format(" (holds {})", text_of(machine_.peek(rank, flag)));
  }
  return text + fmt::format(" [{}]", text_of(waiter.call.site));
}

Trace::Touched Execution::touched(context::Address place, std::size_t n) const {
  if (memory_.refusal(place.owner(), place, n)) return {};
  return {memory_.index(place), n};
}

}  // namespace huddle::check::checker
