// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Chooses by measured times which implementation runs the calls of a class: the team's plan with
// the shortest predicted time, another of its plans, or an implementation outside the team, such as
// the MPI. In a trial, several implementations run some calls each, one after the other, and the
// ranks combine their times. The first trial of a class has three rounds. The first round compares
// only the plan with the shortest predicted time and the implementation outside. The other plans
// take part from the second round on, which begins when its expected cost is a small part of the
// time of the calls so far. The permitted part is larger if the predicted plan is not clearly
// faster than the implementation outside, or is slower than predicted. Trials are then repeated so
// rarely that slower implementations cost at most one percent of the time of the calls, and sooner
// only if a trial has just found a faster implementation.
//
// The tuner does not communicate. All ranks begin the same calls, and the caller passes the same
// verdicts and recalled results to each, so all ranks take the same turns. Only rank 0 keeps costs.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/select/call_times.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::team {

enum class Implementation : std::uint8_t {
  chosen,       // the plan with the shortest predicted time
  alternative,  // another algorithm, copy method or size of pieces
  outside,      // run by the caller, for example by the MPI
};
inline constexpr std::size_t implementation_count = 3;

// The numbers of the alternatives that a trial compares, in select::alternatives_to(). If an
// alternative runs the calls outside trials, it is the first one.
inline constexpr std::size_t alternatives_at_once = 3;
using AlternativeNumbers = std::array<std::uint16_t, alternatives_at_once>;
// Higher numbers denote alternatives that an earlier trial has kept (see Tuner::Recalled).
inline constexpr std::uint16_t first_recalled_number = 0xff00;

// The properties of a call that determine its class. Equal on all ranks.
struct TunedCall {
  select::Operation operation = select::Operation::barrier;
  std::size_t bytes = 0;  // 0 if only pairs of ranks know the sizes
  // The caller may run the call. The result is the same, unless the user permits any order of
  // reduction.
  bool may_run_outside = false;
  // `bytes` is the total size of this number of blocks, which depends only on the operation and the
  // team.
  std::size_t blocks = 1;
};

// A class of calls that have trials of their own.
struct TunedClass {
  select::Operation operation = select::Operation::barrier;
  std::size_t most_bytes = 0;  // the largest size of a block in the class
  bool may_run_outside = false;
  auto operator<=>(const TunedClass&) const = default;
};

// The result of the latest round of a class, from which a later tuner of these ranks can continue.
struct TuningRecord {
  Implementation kept = Implementation::chosen;
  bool is_settled = true;          // the first trial of the class has ended
  select::PlanFeatures plan = {};  // of the implementation that was kept; no algorithm if outside
  double median_ns = 0;            // its time
  std::uint32_t calls_until_next = 0;
  std::uint16_t next_alternative = 0;  // the first one that takes part in the next trial
  std::uint8_t confirmations = 0;      // consecutive trials with the same result
};

// Specifies how the caller runs a call.
struct Turn {
  Implementation by = Implementation::chosen;
  bool is_in_trial = false;
  bool is_timed = false;        // the caller reports the times with Tuner::end()
  bool is_verdict_due = false;  // first, rank 0 calls Tuner::judge(), then all ranks accept()
  bool is_recall_due = false;   // the ranks first have to call Tuner::recall()
  std::uint8_t which = 0;       // of the alternatives, if one of them runs the call
  AlternativeNumbers alternatives = {0, 1, 2};
  std::uint8_t trial = 0;  // valid in a trial
  std::uint8_t sample = 0;
};

class Tuner {
  // A trial compares the chosen plan, the alternatives, and the implementation outside.
  static constexpr std::size_t contenders = alternatives_at_once + 2;
  // A round of a trial. Each contender runs a number of calls in sequence (a block), of which only
  // the last ones are timed: the first one may set up an algorithm, and finds the caches in the
  // state that another contender left. The first round compares the plan with the shortest
  // predicted time and the implementation outside, and is a part of a class's first trial only. The
  // second one removes contenders that are far slower than others. In the last one, blocks are long
  // enough for calls to take the time that they take in a loop.
  struct Round {
    std::uint8_t least_block_calls;
    std::uint8_t most_block_calls;
    std::uint8_t timed_calls;
    std::uint8_t most_contenders;

    // Returns the number of calls in a block: calls that move one queue size of data, and then the
    // timed ones, within the limits of the round. Below 8 KiB, the limit is lower than that. Until
    // the data have passed through the queue, each call finds its cache lines where another
    // contender left them.
    constexpr int block_calls(std::size_t call_bytes) const {
      const std::size_t calls =
          timed_calls + select::usual_queue_bytes / std::max<std::size_t>(call_bytes, 1);
      return static_cast<int>(std::clamp<std::size_t>(calls, least_block_calls, most_block_calls));
    }
  };
  static constexpr std::array<Round, 3> rounds = {
      {{3, 3, 2, 2}, {3, 3, 2, contenders}, {14, 136, 8, 4}}};
  static constexpr std::size_t last_round = rounds.size() - 1;
  static constexpr std::uint8_t first_full_round = 1;

 public:
  static constexpr std::uint32_t calls_before_trial = 4;
  // Returns the number of calls of this size in a trial of all contenders, at most. It is the
  // largest for calls without data.
  static constexpr int calls_of_trial(std::size_t bytes) {
    int calls = 0;
    for (std::size_t round = first_full_round; round < rounds.size(); ++round)
      calls += rounds[round].block_calls(bytes) * rounds[round].most_contenders;
    return calls;
  }
  static constexpr std::size_t samples_per_round = [] {
    std::size_t most = 0;
    for (const Round& round : rounds)
      most = std::max<std::size_t>(most, std::size_t{round.timed_calls} * round.most_contenders);
    return most;
  }();

  // Rank 0 knows this about the team's choice before it has run. A time of 0 is unknown.
  struct Expectation {
    double call_ns = 0;    // predicted
    double search_ns = 0;  // time in which the team lists the alternatives
  };
  // One timed call of this rank. Without a time if the call failed.
  struct Sample {
    double enter_ns = 0;
    double leave_ns = 0;
    std::size_t bytes = 0;  // of this rank's data
    bool is_root = false;
    Expectation expected = {};
  };
  // The data that a rank contributes to a verdict. They are small because the ranks exchange them.
  struct TimedCall {
    double enter_ns = 0;
    std::uint64_t ns : 40 = 0;  // 0 if the call failed or took more than 18 minutes
    std::uint64_t units : 23 = 0;
    std::uint64_t is_root : 1 = 0;

    static constexpr std::size_t bytes_of_unit = 256;
    double bytes() const { return static_cast<double>(units * bytes_of_unit); }
  };
  using Samples = std::array<TimedCall, samples_per_round>;

  // Determines what follows a round of a trial.
  enum class Next : std::uint8_t {
    round,        // the next round, at once
    later_round,  // the next round, after a number of calls
    trial,        // another trial, after a number of calls
  };
  // The result of a round of a trial. Rank 0 determines it, and it holds on all ranks.
  struct Verdict {
    Next next = Next::round;
    std::uint8_t remaining = 0;    // contenders of this round that are left, as bits
    std::uint8_t block_calls = 0;  // of each of them
    std::uint8_t kept = 0;         // the contender that runs later calls
    std::uint32_t calls_until_next = 0;
    // The number of calls after which a later tuner starts the second round. It repeats that round
    // if this tuner has already run it.
    std::uint32_t calls_until_repetition = 0;
    std::array<double, contenders> median_ns{};  // 0 if it was not tried
  };
  // The result of a trial, or of its first rounds if the next one follows later.
  struct Result {
    struct Tried {
      double median_ns = 0;  // 0 if it was not tried
      select::PlanFeatures plan;
    };
    TunedClass of;
    TuningRecord record;
    // Indexed by implementation. The alternative is the one that runs later calls, if one does,
    // otherwise the fastest one.
    std::array<Tried, implementation_count> tried{};
  };

  // The result of an earlier tuner of these ranks for a class. Rank 0 looks it up, and it holds on
  // all ranks.
  struct Recalled {
    bool is_known = false;
    bool is_settled = true;  // as in the record
    // There is a result of a similar class, whose plan takes part in the first trial.
    bool has_suggestion = false;
    Implementation kept = Implementation::chosen;
    // The number of the alternative that is kept or suggested, if one is; at least
    // first_recalled_number.
    std::uint16_t number = first_recalled_number;
    std::uint16_t next_alternative = 0;
    std::uint8_t confirmations = 0;
    std::uint32_t calls_until_next = 0;
  };

  // States when a class has its next trial. A trial in progress counts as one that has ended
  // without a result: the later calls have to pay for its calls before the next one.
  struct ClassProgress {
    std::uint32_t calls_until_next = 0;
    bool is_settled = true;       // as in the record
    bool is_interrupted = false;  // the latest trial
  };

  static TunedClass class_of(const TunedCall& call);

  // Lets the first trial of each class begin after this number of calls, with all contenders, no
  // matter how long it takes.
  void begin_trials_after(std::uint32_t calls) { trials_after_ = calls; }
  // Lets the team's choice run all calls of the operation.
  void exclude(select::Operation operation) { excluded_.set(static_cast<std::size_t>(operation)); }

  // Begins a call and stores its turn if the latest call of the operation had the same size and the
  // call is not part of a trial. Otherwise does nothing and returns false. Takes a few nanoseconds,
  // so that small calls do not become slower.
  bool begin_like_latest(const TunedCall& call, Turn& turn) {
    const Latest& latest = latest_[static_cast<std::size_t>(call.operation)];
    Class* const known = latest.call_class;
    if (known == nullptr || latest.bytes != call.bytes ||
        latest.may_run_outside != call.may_run_outside)
      return false;
    if (known->trial != no_trial || known->calls + 1 >= known->next_trial) return false;
    ++calls_;
    ++known->calls;
    turn.by = known->kept;
    turn.is_in_trial = false;
    turn.is_timed = false;
    turn.is_recall_due = false;
    turn.which = 0;
    turn.alternatives = known->alternatives;
    return true;
  }
  // Does the same without requiring the same size. A call that is not tuned runs by the predicted
  // plan.
  bool begin_outside_trial(const TunedCall& call, Turn& turn) {
    return begin_like_latest(call, turn) || begin_kept(call, turn);
  }
  // Begins any call.
  Turn begin(const TunedCall& call);
  // Applies an earlier result to the call's class. A settled result replaces the first trial, any
  // other only its first round. Without a result, a suggested plan becomes the first alternative. A
  // recall is due before the first round, and again before the alternatives first take part,
  // because another team may have settled the class meanwhile.
  // Called on all ranks. Returns the turn of the call that has begun.
  // Requires: a recall is due.
  Turn recall(const TunedCall& call, const Recalled& recalled);
  // Ends a timed call that ran with a plan of these features.
  void end(const Turn& turn, const Sample& sample, const select::PlanFeatures& plan);
  // Removes the alternative of the turn from this trial, because the team has none with its number,
  // or cannot set it up. All ranks call this in the same call.
  // Requires: the turn is in a trial.
  void leave_out_alternative(const Turn& turn);
  // Leaves the alternative of the turn out of this trial. The next trial starts when it may take
  // part again, after `calls` further calls. If this trial ends later than that, the next one
  // starts at its usual time. All ranks call this in the same call. Requires: the turn is in a
  // trial.
  void postpone_alternative(const Turn& turn, std::uint32_t calls);
  // Returns how many further calls the class must make before the alternative's cost is at most one
  // percent of the time of all its calls; 0 if it already is. The cost is the set-up, plus the
  // excess of its first calls if it is predicted to take more than four times as long as the calls
  // so far. The result differs between ranks, so the caller uses rank 0's.
  // Requires: the turn is in a trial.
  std::uint32_t calls_that_justify(const Turn& turn, double set_up_ns, double predicted_ns) const;

  // Requires: a verdict is due.
  const Samples& samples(const Turn& turn) const { return trials_[turn.trial].samples; }
  // Returns the verdict on the round. Called on rank 0 only. `by_rank` contains the samples of each
  // rank. Requires: a verdict is due.
  Verdict judge(const Turn& turn, std::span<const Samples> by_rank);
  // Called on all ranks. Returns the turn of the call that has begun.
  Turn accept(const Turn& turn, const Verdict& verdict);
  // Returns the latest trial that has ended, once.
  std::optional<Result> take_result();
  // Returns the same as long as it has not been taken.
  const std::optional<Result>& latest_result() const { return result_; }
  // Calls `visit` with each class whose present implementation a trial has determined, and its
  // progress. Omits classes in the pause before the last round, because a later tuner does not
  // continue with that.
  template <class Visit>
  void visit_tried(Visit visit) const;

 private:
  static constexpr std::uint8_t no_trial = 0xff;
  static constexpr std::size_t most_classes = 128;
  static constexpr std::size_t most_trials = 8;

  struct Class {
    std::uint32_t key = 0;  // 0: unused
    Implementation kept = Implementation::chosen;
    bool is_tried = false;
    bool is_interrupted = false;  // the latest trial has ended without a result
    bool has_recalled = false;
    bool is_suggestion_recalled = false;
    bool is_settled = false;     // the first trial has ended
    std::uint8_t round = 0;      // in which the next trial begins or continues
    std::uint8_t remaining = 0;  // contenders that are left from the rounds before it, as bits
    std::uint8_t block_calls = 0;
    std::uint8_t trial = no_trial;
    std::uint8_t confirmations = 0;  // consecutive trials with the same result
    // On rank 0: the largest cost of the next round of the first trial, as a part of the time of
    // the calls; and since the last trial, the time lost in rounds, and the time per call that
    // their results save, against the implementation before them.
    double permitted_part = 0;
    double lost_ns = 0;
    double saved_ns = 0;
    std::uint64_t calls = 0;
    std::uint64_t next_trial = calls_before_trial + 1;
    AlternativeNumbers alternatives = {0, 1, 2};
    std::uint16_t next_alternative = alternatives_at_once;
    std::uint8_t postponed = 0;         // alternatives that do not take part in trials yet, as bits
    std::uint64_t postponed_until = 0;  // number of calls
    std::array<Result::Tried, implementation_count> tried{};  // in the rounds of a first trial

    // Returns the contenders of the next trial or round, as bits.
    std::uint8_t contenders() const;
    // Puts the alternative with this number in the first place.
    void put_first(std::uint16_t number);
    void keep(std::size_t contender);
    void renew_alternatives(std::size_t kept_contender);
    std::uint16_t take_number();
    std::uint16_t next_untried() const;
    std::uint32_t calls_left() const {
      return static_cast<std::uint32_t>(std::max(next_trial, calls) - calls);
    }
  };
  // The times of a contender's calls. Each is divided by a weight that depends on the call's size,
  // because the sizes of a class differ.
  struct Costs {
    std::array<double, rounds.back().timed_calls> in_order{};
    std::size_t count = 0;
    double weights = 0;  // sum

    void add(double ns, double weight);
    // Requires: there are times.
    double median() const { return (in_order[(count - 1) / 2] + in_order[count / 2]) / 2; }
    // Returns the share of pairs, of one time of each, in which this one's is shorter.
    // Requires: both have times.
    double faster_pairs(const Costs& other) const;
  };
  struct Trial {
    Class* call_class = nullptr;  // null: unused
    std::uint64_t latest_call = 0;
    std::uint8_t remaining = 0;  // contenders of this round, as bits
    std::uint8_t left_out = 0;   // contenders whose times do not count, as bits
    std::uint8_t round = 0;
    std::uint8_t block_calls = rounds.front().least_block_calls;
    std::uint16_t calls = 0;        // of this round
    std::uint16_t other_calls = 0;  // of all rounds, except those of the present choice
    Samples samples{};
    std::array<select::PlanFeatures, contenders> plans{};
    // On rank 0.
    Expectation expected = {};
    std::array<Costs, contenders> costs{};  // of the latest round that a contender was in
    std::array<std::uint16_t, contenders> calls_by{};  // number of calls in all rounds

    std::size_t block_samples() const { return rounds[round].timed_calls; }
    std::size_t contender_of(std::size_t block) const;
    void leave_out(std::size_t contender);
    std::array<double, contenders> medians_ns() const;
    double least_ns(std::size_t contender) const;
    double mean_weight() const;
    std::size_t least_promising(std::uint8_t set, const Verdict& verdict, double fastest_ns) const;
    // The gap if the trial ends without a result. Even if its calls took three times as long as the
    // others, they cost at most one percent of the time of this number of calls.
    std::uint32_t calls_after_interruption() const { return 200U * other_calls; }
    std::uint8_t next_contenders(const Verdict& verdict, double fastest_ns) const;
    std::uint8_t next_block_calls(double fastest_ns) const;
    void note_result(const Verdict& verdict);
    Result result(const Verdict& verdict) const;
  };
  struct Latest {
    Class* call_class = nullptr;
    std::size_t bytes = 0;
    bool may_run_outside = false;
  };

  static TunedClass class_of_key(std::uint32_t key);
  bool begin_kept(const TunedCall& call, Turn& turn);
  // Returns null if the calls are not tuned.
  Class* find(const TunedCall& call);
  Class* find_key(std::uint32_t key);
  Turn step(Class& call_class);
  static Turn kept_turn(const Class& call_class) {
    return {.by = call_class.kept, .alternatives = call_class.alternatives};
  }
  bool start_trial(Class& call_class);
  Trial* free_trial();
  static void note_costs(Trial& trial, std::span<const Samples> by_rank);
  static void note_loss(Trial& trial, const Verdict& verdict);
  static std::uint32_t calls_until_next(const Trial& trial, const Verdict& verdict);
  static std::uint32_t calls_until_alternatives(Trial& trial, const Verdict& verdict);
  static std::uint32_t calls_until_last_round(const Trial& trial, const Verdict& verdict);

  std::optional<std::uint32_t> trials_after_;
  std::uint64_t calls_ = 0;
  std::bitset<select::operations.size()> excluded_;
  std::array<Latest, select::operations.size()> latest_{};
  std::array<Class, most_classes> classes_{};
  std::array<Trial, most_trials> trials_{};
  std::optional<Result> result_;
};

template <class Visit>
void Tuner::visit_tried(Visit visit) const {
  for (const Class& one : classes_) {
    if (!one.is_tried || (one.round == last_round && !one.is_settled)) continue;
    const TunedClass of = class_of_key(one.key);
    if (one.trial == no_trial) {
      visit(of, ClassProgress{one.calls_left(), one.is_settled, one.is_interrupted});
    } else {
      visit(of, ClassProgress{trials_[one.trial].calls_after_interruption(), one.is_settled, true});
    }
  }
}

}  // namespace huddle::team
