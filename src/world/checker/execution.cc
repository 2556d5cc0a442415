// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who goes on, and how an execution ends. What the ranks do is in operations.cc.
#include "world/checker/execution.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "world/checker/checker_world.h"
#include "world/checker/text.h"

namespace huddle::world::checker {
namespace {

// A digest of two numbers that spreads every bit (the finalizer of splitmix64).
std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  std::uint64_t z = digest * 0x9E3779B97F4A7C15U + value + 0x632BE59BD9B4E019U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

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
  const Fibers::Body body = [this](int rank) { return live(rank); };
  try {
    const int first = next_rank(Fibers::host);
    fibers_.run(first, body);
    if (!abandoned_) end_and_verify();
  } catch (const Abandoned&) {  // before any rank began, or by the verdict
  }
  if (chooser_error_) std::rethrow_exception(std::exchange(chooser_error_, nullptr));
  return failure_;
}

// All of one rank's life. Says who goes on after it.
int Execution::live(int rank) {
  Rank& me = of(rank);
  me.begun = true;
  try {
    CheckerWorld world(*this, rank);
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

// When an execution is given up, every rank that has begun has to leave its frames.
int Execution::next_to_unwind() const {
  for (int rank = 0; rank < job_.ranks; ++rank) {
    if (of(rank).begun && of(rank).state != Rank::State::ended) return rank;
  }
  return Fibers::host;
}

// False where nothing is to be done any more: a destructor that runs while the rank unwinds.
bool Execution::enter(const Call& call) {
  if (abandoned_) {
    if (std::uncaught_exceptions() > 0) return false;
    throw Abandoned{};
  }
  of(call.rank).call = call;
  return true;
}

// Comes back when the chooser wants this rank's operation to be the next.
void Execution::take_turn(int rank) {
  if (++steps_ > options_.max_steps) {
    fail(fmt::format("no end after {} operations: a loop that polls has to wait instead",
                     options_.max_steps));
  }
  const int next = next_rank(rank);
  if (next == rank) return;
  fibers_.switch_to(next);
  if (abandoned_) throw Abandoned{};
}

// The host when all have ended.
int Execution::next_rank(int current) {
  for (;;) {
    list_alternatives(current);
    if (alternatives_.empty()) {
      if (next_to_unwind() == Fibers::host) return Fibers::host;
      report_stall();
    }
    const Alternative chosen = choose();
    if (chosen.kind == Alternative::Kind::run) return chosen.rank;
    const PendingStore& store = machine_.pending(chosen.rank)[chosen.index];
    if (trace_.on()) {
      trace_.note({chosen.rank, {}}, fmt::format("{} becomes visible", text_of(store.place)));
    }
    machine_.let_go(chosen.rank, chosen.index);
  }
}

// The rank that has the turn comes first, and to take it away costs.
void Execution::list_alternatives(int current) {
  alternatives_.clear();
  const bool goes_on = current != Fibers::host && can_go_on(current);
  turn_ = goes_on ? current : Fibers::host;
  if (goes_on) alternatives_.push_back({Alternative::Kind::run, current, 0, 0});
  bool somebody_lives = goes_on;
  for (int rank = 0; rank < job_.ranks; ++rank) {
    somebody_lives |= of(rank).state != Rank::State::ended;
    if (rank == current || !can_go_on(rank)) continue;
    alternatives_.push_back({Alternative::Kind::run, rank, 0, goes_on ? 1 : 0});
  }
  if (!somebody_lives) return;
  for (int rank = 0; rank < job_.ranks; ++rank) {
    for (std::size_t i = 0; i < machine_.pending(rank).size(); ++i) {
      if (!machine_.may_be_let_go(rank, i)) continue;
      alternatives_.push_back({Alternative::Kind::let_go, rank, i, 0});
    }
  }
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

// Which of the flags that the rank waits for hold what it wants.
std::vector<std::size_t> Execution::holding(int rank) const {
  const Rank& waiter = of(rank);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < waiter.flags.size(); ++i) {
    if (waiter.condition.holds(machine_.peek(rank, waiter.flags[i]))) found.push_back(i);
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

// What the chooser throws is not the protocol's error: run() throws it on.
std::size_t Execution::ask_chooser() {
  try {
    return chooser_->choose(alternatives_, state());
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

std::size_t Execution::chosen_flag(int rank, std::span<const std::size_t> holding) {
  turn_ = rank;
  alternatives_.clear();
  for (const std::size_t index : holding) {
    alternatives_.push_back({Alternative::Kind::flag, rank, index, 0});
  }
  return choose().index;
}

// Ranks are deterministic, so what each has seen says what it has done and will do. Versions say
// which store each value came from, and so who knows of whom: memory and clocks follow, as long as
// nothing races, and what races fails. What is left is the stores under way, the sleepers, and
// whose turn it is.
std::uint64_t Execution::state() const {
  const Alternative& first = alternatives_.front();
  std::uint64_t digest =
      mixed(static_cast<std::uint64_t>(first.kind), static_cast<std::uint64_t>(first.rank));
  digest = mixed(digest, static_cast<std::uint64_t>(turn_));
  for (int rank = 0; rank < job_.ranks; ++rank) {
    digest = mixed(digest, of(rank).history);
    digest = mixed(digest, static_cast<std::uint64_t>(of(rank).state));
    for (const PendingStore& store : machine_.pending(rank)) {
      digest = mixed(digest, 2 * store.version + (store.is_held ? 1 : 0));
    }
  }
  return digest;
}

void Execution::observe(int rank, const Seen& seen) {
  std::uint64_t& history = of(rank).history;
  history = mixed(mixed(history, seen.value), seen.version);
}

void Execution::end_and_verify() {
  for (int rank = 0; rank < job_.ranks; ++rank) machine_.drain(rank);
  if (!job_.verify) return;
  const std::string wrong = job_.verify(memory_);
  if (!wrong.empty()) record("the result is wrong: " + wrong);
}

}  // namespace huddle::world::checker
