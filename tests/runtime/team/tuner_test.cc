// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "common/arithmetic.h"

namespace huddle::team {
namespace {

using select::Operation;
using ::testing::Each;
using ::testing::Gt;

constexpr std::size_t tuned_ranks = 3;
constexpr int first_trial =
    static_cast<int>(Tuner::calls_before_trial) + 1 + Tuner::calls_of_trial(0);
constexpr TunedCall small_call{Operation::allreduce, 4096, true};

// The time of a call by each implementation, without waiting. All alternatives take the same time.
using CallNs = std::array<double, implementation_count>;

// The tuners of several ranks in one process. Time passes only as the calls take it.
class TunedRanks {
 public:
  // Begins trials at once if a number of calls is given, otherwise once they are justified.
  explicit TunedRanks(std::optional<std::uint32_t> trials_after = Tuner::calls_before_trial) {
    for (const std::unique_ptr<Tuner>& tuner : tuners_) {
      if (trials_after) tuner->begin_trials_after(*trials_after);
    }
  }
  // Returns the implementation that ran the call. The ranks enter at the times that `late_ns`
  // returns, and leave `ns` plus `longer_ns` after the last one entered.
  Implementation call(const TunedCall& tuned, const CallNs& ns, bool has_alternative = true) {
    std::array<Turn, tuned_ranks> turns;
    for (std::size_t rank = 0; rank < tuned_ranks; ++rank) turns[rank] = begun(rank, tuned);
    if (turns.front().is_verdict_due) agree(turns);
    const Implementation by = turns.front().by;
    which = turns.front().which;
    alternatives = turns.front().alternatives;
    double last_ns = now_ns_;
    std::array<double, tuned_ranks> enter_ns{};
    for (std::size_t rank = 0; rank < tuned_ranks; ++rank) {
      EXPECT_EQ(turns[rank].by, by);
      if (turns[rank].is_in_trial && by == Implementation::alternative) {
        if (!has_alternative) tuners_[rank]->leave_out_alternative(turns[rank]);
        if (has_alternative && is_postponed(which))
          tuners_[rank]->postpone_alternative(turns[rank], postponed_calls);
      }
      enter_ns[rank] = now_ns_ + late_ns(rank);
      last_ns = std::max(last_ns, enter_ns[rank]);
    }
    for (std::size_t rank = 0; rank < tuned_ranks; ++rank) {
      EXPECT_EQ(turns[rank].is_timed, turns.front().is_timed);
      const double by_number_ns =
          by == Implementation::alternative ? longer_by_number_ns(alternatives[which]) : 0;
      const double leave_ns =
          last_ns + ns[static_cast<std::size_t>(by)] + longer_ns(by, rank) + by_number_ns;
      now_ns_ = std::max(now_ns_, leave_ns);
      if (turns[rank].is_timed)
        tuners_[rank]->end(turns[rank], {enter_ns[rank], leave_ns, 64, false, expected}, {});
    }
    return by;
  }
  std::vector<Implementation> calls(int number, const TunedCall& tuned, const CallNs& ns) {
    std::vector<Implementation> all;
    for (int i = 0; i < number; ++i) all.push_back(call(tuned, ns));
    return all;
  }
  Tuner& tuner(std::size_t rank) { return *tuners_[rank]; }

  std::uint8_t which = 0;  // the alternative in the latest call
  AlternativeNumbers alternatives{};
  std::function<bool(std::uint8_t which)> is_postponed = [](std::uint8_t /*which*/) {
    return false;
  };
  std::uint32_t postponed_calls = 0;
  std::function<Tuner::Recalled(const TunedClass& of)> recalled = [](const TunedClass& /*of*/) {
    return Tuner::Recalled();
  };
  int recalls = 0;
  Tuner::Expectation expected;
  std::function<double(std::size_t rank)> late_ns = [](std::size_t /*rank*/) { return 0; };
  std::function<double(Implementation by, std::size_t rank)> longer_ns =
      [](Implementation /*by*/, std::size_t /*rank*/) { return 0; };
  std::function<double(std::uint16_t number)> longer_by_number_ns = [](std::uint16_t /*number*/) {
    return 0;
  };

 private:
  // As a team begins a call.
  Turn begun(std::size_t rank, const TunedCall& tuned) {
    Tuner& tuner = *tuners_[rank];
    Turn turn;
    if (tuner.begin_like_latest(tuned, turn)) return turn;
    turn = tuner.begin(tuned);
    if (!turn.is_recall_due) return turn;
    ++recalls;
    return tuner.recall(tuned, recalled(Tuner::class_of(tuned)));
  }
  void agree(std::array<Turn, tuned_ranks>& turns) {
    std::array<Tuner::Samples, tuned_ranks> by_rank;
    for (std::size_t rank = 0; rank < tuned_ranks; ++rank)
      by_rank[rank] = tuners_[rank]->samples(turns[rank]);
    const Tuner::Verdict verdict = tuners_.front()->judge(turns.front(), by_rank);
    for (std::size_t rank = 0; rank < tuned_ranks; ++rank)
      turns[rank] = tuners_[rank]->accept(turns[rank], verdict);
  }

  std::array<std::unique_ptr<Tuner>, tuned_ranks> tuners_{
      std::make_unique<Tuner>(), std::make_unique<Tuner>(), std::make_unique<Tuner>()};
  double now_ns_ = 1e9;
};

std::size_t calls_by(const std::vector<Implementation>& calls, Implementation by) {
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), by));
}

TEST(Tuner, LetsTheFirstCallsRunAsPredicted) {
  TunedRanks ranks;
  EXPECT_THAT(ranks.calls(4, small_call, {1000, 900, 500}), Each(Implementation::chosen));
}

// Calls of two sizes by turns are not of the class of the latest call.
TEST(Tuner, BeginsCallsOutsideTrialsInTheSameWay) {
  Tuner quick;
  Tuner usual;
  constexpr std::array<TunedCall, 2> sizes = {
      {{Operation::allreduce, 8, true}, {Operation::allreduce, 4096, true}}};
  for (std::size_t call = 0; call < 8; ++call) {
    Turn turn;
    ASSERT_TRUE(quick.begin_outside_trial(sizes[call % 2], turn)) << call;
    EXPECT_EQ(turn.by, usual.begin(sizes[call % 2]).by);
  }
  Turn turn{.by = Implementation::outside};
  EXPECT_FALSE(quick.begin_outside_trial(sizes[0], turn));
  EXPECT_EQ(turn.by, Implementation::outside);
  EXPECT_TRUE(quick.begin(sizes[0]).is_recall_due);
  EXPECT_TRUE(quick.recall(sizes[0], {}).is_in_trial);
  EXPECT_TRUE(usual.begin(sizes[0]).is_recall_due);
  EXPECT_TRUE(usual.recall(sizes[0], {}).is_in_trial);
  quick.exclude(Operation::bcast);
  EXPECT_TRUE(quick.begin_outside_trial({Operation::bcast, 8, true}, turn));
  EXPECT_EQ(turn.by, Implementation::chosen);
}

TEST(Tuner, KeepsTheFastestOfEach) {
  const std::array<CallNs, 3> fastest = {
      {{1000, 2000, 3000}, {2000, 1000, 3000}, {3000, 2000, 1000}}};
  for (std::size_t by = 0; by < fastest.size(); ++by) {
    TunedRanks ranks;
    ranks.calls(first_trial, small_call, fastest[by]);
    EXPECT_THAT(ranks.calls(200, small_call, fastest[by]), Each(static_cast<Implementation>(by)));
  }
}

// Within 32 calls.
TEST(Tuner, DropsAnAlgorithmThatIsThreeTimesSlowerThanPredicted) {
  TunedRanks ranks(std::nullopt);
  ranks.expected = {1000, 20'000};
  const auto calls = ranks.calls(32, small_call, {3000, 1000, 2500});
  EXPECT_EQ(calls.back(), Implementation::alternative);
  EXPECT_LE(calls_by(calls, Implementation::chosen), 4U + 3U + 3U);
}

// A benchmark with 1000 calls of 1 us would become slower if huddle looked for the best plan.
TEST(Tuner, ComparesAlternativesOnceTheirCostIsJustified) {
  TunedRanks ranks(std::nullopt);
  ranks.expected = {1000, 300'000};
  constexpr CallNs ns = {1000, 800, 2000};
  auto calls = ranks.calls(1000, small_call, ns);
  EXPECT_EQ(calls_by(calls, Implementation::alternative), 0U);
  EXPECT_EQ(calls_by(calls, Implementation::outside), 3U);
  EXPECT_EQ(calls.back(), Implementation::chosen);
  calls = ranks.calls(10'000, small_call, ns);
  EXPECT_EQ(calls.back(), Implementation::alternative);
}

TEST(Tuner, ComparesAlternativesSoonerIfThePredictedOneIsNotTheFastest) {
  constexpr CallNs ns = {1000, 400, 1000};
  TunedRanks ranks(std::nullopt);
  ranks.expected = {1000, 300'000};
  const auto calls = ranks.calls(1500, small_call, ns);
  EXPECT_EQ(calls.back(), Implementation::alternative);
  EXPECT_GT(calls_by(calls, Implementation::chosen), 1000U);
}

TEST(Tuner, LetsTheMpiRunCallsThatItRunsFaster) {
  TunedRanks ranks(std::nullopt);
  ranks.expected = {1000, 300'000};
  const auto calls = ranks.calls(100, small_call, {1000, 1200, 600});
  EXPECT_EQ(calls_by(calls, Implementation::chosen), 4U + 3U);
  EXPECT_EQ(calls_by(calls, Implementation::alternative), 0U);
}

// The first short calls of an alternative decide until a long round is justified.
TEST(Tuner, RunsAFasterAlternativeUntilTheLastRound) {
  TunedRanks ranks(std::nullopt);
  ranks.expected = {100, 0};
  ranks.longer_by_number_ns = [](std::uint16_t number) {
    return number == 1 ? 0 : number == 2 ? 1000 : 9000;
  };
  constexpr CallNs ns = {3000, 1000, 9000};
  const auto calls = ranks.calls(60, small_call, ns);
  EXPECT_EQ(calls_by(calls, Implementation::chosen), 4U + 3U + 1U + 3U);
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{1, 0, 2})) << "they remain for the last round";
  const auto& result = ranks.tuner(0).latest_result();
  while (!result->record.is_settled) ranks.call(small_call, ns);
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{1, 3, 4}));
  EXPECT_NEAR(result->tried[0].median_ns, 3000, 1) << "it did not take part in the last round";
}

// All rounds together cost at most a fifth of the time of the calls, at any time after the first
// calls.
TEST(Tuner, CostsLittleFromTheFirstCallsOn) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> excess(1, 4);
  for (int repetition = 0; repetition < 50; ++repetition) {
    TunedRanks ranks(std::nullopt);
    ranks.expected = {1000, 300'000};
    const double best_ns = 500 * excess(random);
    const CallNs ns = {best_ns, best_ns * excess(random), 2 * best_ns};
    double total_ns = 0;
    bool has_list = false;
    for (int call = 1; call <= 30'000; ++call) {
      const Implementation by = ranks.call(small_call, ns);
      total_ns += ns[static_cast<std::size_t>(by)];
      if (by == Implementation::alternative && !std::exchange(has_list, true))
        total_ns += ranks.expected.search_ns;
      if (call < 100) continue;
      ASSERT_LT(total_ns, 1.2 * best_ns * call) << "seed " << seed << ", call " << call;
    }
  }
}

// With wrong figures any alternative may be the fastest one.
TEST(Tuner, KeepsTheFastestAlternative) {
  for (std::uint16_t fastest = 0; fastest < alternatives_at_once; ++fastest) {
    TunedRanks ranks;
    ranks.longer_by_number_ns = [&](std::uint16_t number) { return number == fastest ? 0 : 500; };
    ranks.calls(first_trial, small_call, {1500, 1000, 1500});
    EXPECT_THAT(ranks.calls(100, small_call, {1500, 1000, 1500}),
                Each(Implementation::alternative));
    EXPECT_EQ(ranks.alternatives[ranks.which], fastest);
  }
}

// The alternative that runs the calls stays when a trial compares it with the next ones.
TEST(Tuner, FindsAFasterAlternativeInALaterTrial) {
  TunedRanks ranks;
  ranks.longer_by_number_ns = [](std::uint16_t number) {
    return number == 4 ? 0 : number == 1 ? 300 : 1000;
  };
  ranks.calls(first_trial + 1, small_call, {1500, 1000, 1500});
  EXPECT_EQ(ranks.alternatives[ranks.which], 1);
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{1, 3, 4}));
  ranks.calls(20'000, small_call, {1500, 1000, 1500});
  EXPECT_EQ(ranks.alternatives[ranks.which], 4);
}

TEST(Tuner, KeepsThePredictionIfTheDifferenceIsNoise) {
  TunedRanks ranks;
  EXPECT_THAT(ranks.calls(first_trial, small_call, {1000, 990, 985}).back(),
              Implementation::chosen);
}

// The medians of a few calls often differ by more than the least gain. Five contenders are
// compared.
TEST(Tuner, RarelyTakesNoiseForAGain) {
  constexpr unsigned trials = 200;
  constexpr double part_of_noise = 0.15;
  unsigned changes = 0;
  for (unsigned seed = 0; seed < trials; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<> noise(0, part_of_noise);
    TunedRanks ranks;
    for (int call = 0; call <= first_trial; ++call) {
      const CallNs ns{1000 * std::exp(noise(random)), 1000 * std::exp(noise(random)),
                      1000 * std::exp(noise(random))};
      if (ranks.call(small_call, ns) != Implementation::chosen && call == first_trial) ++changes;
    }
  }
  EXPECT_LE(changes, trials / 50) << "of " << trials;
}

// Calls become slower during the trial. A contender that had to leave after the first round is not
// faster because of that.
TEST(Tuner, ComparesCallsOfTheSameRounds) {
  TunedRanks ranks;
  const auto ns = [&](double factor) {
    return CallNs{1000 * factor, 1020 * factor, 1010 * factor};
  };
  ranks.longer_by_number_ns = [](std::uint16_t number) { return 10.0 * number; };
  constexpr int calls_of_first_round = 4 + 3 * 5;
  ranks.calls(calls_of_first_round, small_call, ns(1));
  ranks.calls(first_trial - calls_of_first_round, small_call, ns(1.3));
  EXPECT_EQ(ranks.call(small_call, ns(1.3)), Implementation::chosen);
}

// Three of the timed calls of the last round are disturbed, so that less than 85 % of all pairs of
// calls show the gain.
TEST(Tuner, ReplacesAnImplementationThatItDrops) {
  TunedRanks ranks;
  int outside_calls = 0;
  Implementation latest = Implementation::chosen;
  for (int call = 0; call < first_trial; ++call) {
    const double outside_ns = outside_calls < 3 ? 2000 : outside_calls < 100 ? 1000 : 10'000;
    const CallNs ns{3000, 0, outside_ns};
    latest = ranks.call(small_call, ns, false);
    if (latest == Implementation::outside) ++outside_calls;
  }
  EXPECT_EQ(latest, Implementation::outside);
}

// An MPI whose senders leave a gather at once is not fast if its root is slow.
TEST(Tuner, CountsTheTimeOfTheSlowestRank) {
  TunedRanks ranks;
  ranks.longer_ns = [](Implementation by, std::size_t rank) {
    return by == Implementation::outside && rank == 0 ? 1000 : 0;
  };
  EXPECT_THAT(ranks.calls(first_trial, small_call, {1000, 1500, 200}).back(),
              Implementation::chosen);
}

// The implementation that runs while ranks are late must not pay for it.
TEST(Tuner, DoesNotCountWaitingForLateRanks) {
  constexpr unsigned seed = 7;
  std::mt19937 random(seed);
  TunedRanks ranks;
  ranks.late_ns = [&](std::size_t /*rank*/) {
    return std::uniform_real_distribution<>(0, 100'000)(random);
  };
  ranks.calls(first_trial, small_call, {1000, 1200, 800});
  EXPECT_THAT(ranks.calls(100, small_call, {1000, 1200, 800}), Each(Implementation::outside))
      << "seed " << seed;
}

TEST(Tuner, NeverRunsOutsideIfThatIsForbidden) {
  TunedRanks ranks;
  const TunedCall call{Operation::allreduce, 4096, false};
  const auto calls = ranks.calls(1000, call, {1000, 1200, 10});
  EXPECT_EQ(calls_by(calls, Implementation::outside), 0U);
}

TEST(Tuner, NeverTunesAnExcludedOperation) {
  TunedRanks ranks;
  for (std::size_t rank = 0; rank < tuned_ranks; ++rank)
    ranks.tuner(rank).exclude(Operation::allreduce);
  EXPECT_THAT(ranks.calls(1000, small_call, {1000, 10, 10}), Each(Implementation::chosen));
}

// Slower implementations may cost one percent of the time after the first trial.
TEST(Tuner, RepeatsTrialsRarely) {
  constexpr CallNs ns = {1000, 1400, 1300};
  TunedRanks ranks;
  ranks.calls(first_trial, small_call, ns);
  constexpr int many = 100'000;
  const auto calls = ranks.calls(many, small_call, ns);
  const double lost_ns = 400.0 * static_cast<double>(calls_by(calls, Implementation::alternative)) +
                         300.0 * static_cast<double>(calls_by(calls, Implementation::outside));
  EXPECT_GT(lost_ns, 0) << "trials are repeated";
  EXPECT_LT(lost_ns, 0.01 * many * 1000);
}

// The interval doubles only if a trial confirms the result.
TEST(Tuner, TriesAgainSoonAfterAResultThatWasConfirmedOften) {
  TunedRanks ranks;
  ranks.recalled = [](const TunedClass& /*of*/) {
    return Tuner::Recalled{.is_known = true, .confirmations = 9, .calls_until_next = 1};
  };
  const auto& result = ranks.tuner(0).latest_result();
  while (!result) ranks.call(small_call, {1000, 1400, 500});
  EXPECT_EQ(result->record.kept, Implementation::outside);
  EXPECT_LT(result->record.calls_until_next, 5000U);
}

TEST(Tuner, NoticesThatAnotherImplementationHasBecomeFaster) {
  TunedRanks ranks;
  ranks.calls(first_trial, small_call, {1000, 1400, 1300});
  ranks.calls(40'000, small_call, {1000, 1400, 500});
  constexpr int many = 5000;
  const auto calls = ranks.calls(many, small_call, {1000, 1400, 500});
  EXPECT_GT(calls_by(calls, Implementation::outside), many * 9U / 10);
}

TEST(Tuner, TunesEachSizeAlone) {
  TunedRanks ranks;
  const TunedCall large{Operation::allreduce, 1 << 20, true};
  for (int i = 0; i < first_trial; ++i) {
    ranks.call(small_call, {1000, 2000, 2000});
    ranks.call(large, {2000, 1000, 2000});
  }
  EXPECT_EQ(ranks.call(small_call, {1000, 2000, 2000}), Implementation::chosen);
  EXPECT_EQ(ranks.call(large, {2000, 1000, 2000}), Implementation::alternative);
}

// More classes of calls than trials at a time, and a trial that never ends.
TEST(Tuner, TunesManyClassesInAnyOrder) {
  TunedRanks ranks;
  ranks.calls(7, {Operation::bcast, 16, true}, {1000, 2000, 2000});
  std::vector<TunedCall> calls;
  for (std::size_t bytes = 8; bytes <= (1U << 20); bytes *= 2)
    calls.push_back({Operation::allreduce, bytes, true});
  constexpr int rounds = 20 * first_trial;
  std::vector<int> by_alternative(calls.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Implementation by = ranks.call(calls[i], {1000, 900, 2000});
      if (by == Implementation::alternative) ++by_alternative[i];
    }
  }
  EXPECT_THAT(by_alternative, Each(Gt(rounds * 3 / 4)));
}

TEST(Tuner, WorksWithoutAnAlternative) {
  TunedRanks ranks;
  for (int i = 0; i < first_trial; ++i) ranks.call(small_call, {1000, 1000, 500}, false);
  EXPECT_EQ(ranks.call(small_call, {1000, 1000, 500}), Implementation::outside);
}

// Until the alternatives are worth their set-up, the others are compared without them.
TEST(Tuner, PostponesAlternatives) {
  constexpr CallNs ns = {1000, 300, 800};
  constexpr int postponed = 1000;
  TunedRanks ranks;
  ranks.is_postponed = [](std::uint8_t /*which*/) { return true; };
  ranks.postponed_calls = postponed;
  auto calls = ranks.calls(postponed, small_call, ns);
  EXPECT_EQ(calls_by(calls, Implementation::alternative), alternatives_at_once);
  EXPECT_EQ(calls.back(), Implementation::outside);
  ranks.is_postponed = [](std::uint8_t /*which*/) { return false; };
  calls = ranks.calls(postponed, small_call, ns);
  EXPECT_EQ(calls.back(), Implementation::alternative);
}

// An alternative that is postponed keeps its number if another one is kept, which moves to its
// place.
TEST(Tuner, ComparesTheOthersIfOneAlternativeIsPostponed) {
  constexpr CallNs ns = {1000, 500, 1000};
  TunedRanks ranks;
  ranks.is_postponed = [](std::uint8_t which) { return which == 0; };
  ranks.postponed_calls = 2 * first_trial;
  ranks.longer_by_number_ns = [](std::uint16_t number) {
    return number == 0 ? -100 : number == 2 ? 0 : 100;
  };
  ranks.calls(first_trial, small_call, ns);
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{2, 3, 0}));
  EXPECT_THAT(ranks.calls(500, small_call, ns), Each(Implementation::alternative));
  ranks.is_postponed = [](std::uint8_t /*which*/) { return false; };
  ranks.calls(2 * first_trial, small_call, ns);
  EXPECT_EQ(ranks.alternatives[ranks.which], 0);
}

// Alternatives that were not the fastest make room for others in the next trial.
TEST(Tuner, TriesOtherAlternativesAfterEachTrialThatTheyLose) {
  TunedRanks ranks;
  ranks.calls(40'000, small_call, {1000, 1200, 1100});
  const AlternativeNumbers losers = ranks.alternatives;
  EXPECT_GT(losers.front(), alternatives_at_once);
  ranks.calls(1'000'000, small_call, {1000, 500, 1100});
  const std::uint16_t winner = ranks.alternatives.front();
  EXPECT_LE(winner, losers.back() + alternatives_at_once);
  ranks.calls(200'000, small_call, {1000, 500, 1100});
  EXPECT_EQ(ranks.alternatives.front(), winner);
}

// An alternative that was postponed has not lost.
TEST(Tuner, KeepsAPostponedAlternative) {
  TunedRanks ranks;
  ranks.is_postponed = [](std::uint8_t /*which*/) { return true; };
  ranks.postponed_calls = 1'000'000;
  ranks.calls(100'000, small_call, {1000, 500, 1100});
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{0, 1, 2}));
}

TEST(Tuner, JustifiesASetUpByTheTimeOfTheCalls) {
  TunedRanks ranks;
  for (int i = 0; i < 7; ++i) ranks.call(small_call, {1000, 1000, 1000});
  const Turn turn = ranks.tuner(0).begin(small_call);
  ASSERT_EQ(turn.by, Implementation::alternative);
  // One percent of 8 calls of 1 us are 80 ns.
  EXPECT_EQ(ranks.tuner(0).calls_that_justify(turn, 70, 4000), 0U);
  EXPECT_NEAR(ranks.tuner(0).calls_that_justify(turn, 100'000, 4000), 10'000, 10);
  // Three calls that are predicted to take 34 us.
  EXPECT_NEAR(ranks.tuner(0).calls_that_justify(turn, 10'000, 34'000), 10'000, 10);
}

TEST(Tuner, ReportsItsResultOnce) {
  TunedRanks ranks;
  EXPECT_FALSE(ranks.tuner(1).take_result());
  ranks.calls(first_trial, small_call, {1000, 1200, 800});
  const std::optional<Tuner::Result> result = ranks.tuner(1).take_result();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->of, (TunedClass{Operation::allreduce, 4096, true}));
  EXPECT_EQ(result->record.kept, Implementation::outside);
  EXPECT_NEAR(result->record.median_ns, 800, 1);
  EXPECT_NEAR(result->tried[0].median_ns, 1000, 1);
  EXPECT_NEAR(result->tried[1].median_ns, 1200, 1);
  EXPECT_FALSE(ranks.tuner(1).take_result());
}

Tuner::Recalled recalled_from(const TuningRecord& record) {
  return {.is_known = true,
          .is_settled = record.is_settled,
          .kept = record.kept,
          .next_alternative = record.next_alternative,
          .confirmations = record.confirmations,
          .calls_until_next = record.calls_until_next};
}

TEST(Tuner, RequestsEarlierResultsOncePerClass) {
  TunedRanks ranks;
  ranks.calls(4, small_call, {1000, 900, 500});
  EXPECT_EQ(ranks.recalls, 0) << "too few calls for a trial";
  ranks.calls(first_trial + 1000, small_call, {1000, 900, 500});
  EXPECT_EQ(ranks.recalls, static_cast<int>(tuned_ranks));
}

// The rounds of the first trial may be those of several tuners, with a pause between them.
TEST(Tuner, ContinuesTheFirstTrialOfAnEarlierTuner) {
  constexpr CallNs times = {1000, 600, 800};
  TunedRanks first(std::nullopt);
  first.expected = {1000, 300'000};
  first.calls(20, small_call, times);
  const auto& result = first.tuner(0).latest_result();
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->record.is_settled);
  EXPECT_EQ(result->record.kept, Implementation::outside);
  TunedRanks later(std::nullopt);
  later.recalled = [&](const TunedClass& /*of*/) { return recalled_from(result->record); };
  later.calls(4, small_call, times);
  const int until_next = static_cast<int>(result->record.calls_until_next);
  EXPECT_THAT(later.calls(until_next, small_call, times), Each(Implementation::outside));
  EXPECT_EQ(later.recalls, static_cast<int>(tuned_ranks));
  later.calls(16, small_call, times);
  EXPECT_EQ(later.recalls, 2 * static_cast<int>(tuned_ranks)) << "a plan may have been suggested";
  ASSERT_TRUE(later.tuner(0).latest_result());
  EXPECT_FALSE(later.tuner(0).latest_result()->record.is_settled)
      << "a pause precedes the last one";
  EXPECT_EQ(later.calls(3, small_call, times).back(), Implementation::alternative);
}

// The set-up of an alternative may take long, and there is no time of the team's choice.
TEST(Tuner, JustifiesASetUpByTheTimeOfCallsOutside) {
  TunedRanks ranks(std::nullopt);
  ranks.expected = {1000, 0};
  ranks.calls(16, small_call, {3000, 2000, 1000});
  const Turn turn = ranks.tuner(0).begin(small_call);
  ASSERT_EQ(turn.by, Implementation::alternative);
  EXPECT_GT(ranks.tuner(0).calls_that_justify(turn, 1'000'000, 1000), 10'000U);
}

TEST(Tuner, ContinuesWithTheResultsOfAnEarlierTuner) {
  constexpr CallNs times = {1000, 1200, 800};
  TunedRanks first;
  first.calls(first_trial, small_call, times);
  const auto& result = first.tuner(0).latest_result();
  ASSERT_TRUE(result);
  TunedRanks later;
  later.recalled = [&](const TunedClass& of) {
    EXPECT_EQ(of, result->of);
    return recalled_from(result->record);
  };
  later.calls(4, small_call, times);
  const int until_next = static_cast<int>(result->record.calls_until_next);
  EXPECT_THAT(later.calls(until_next, small_call, times), Each(Implementation::outside));
  EXPECT_EQ(later.alternatives, (AlternativeNumbers{3, 4, 5})) << "the others have lost";
  const auto next_trial = later.calls(first_trial, small_call, times);
  EXPECT_GT(calls_by(next_trial, Implementation::chosen), 0U);
  EXPECT_THAT(later.calls(200, small_call, times), Each(Implementation::outside));
}

TEST(Tuner, ContinuesWithAnAlternativeThatAnEarlierTunerKept) {
  constexpr CallNs times = {1000, 800, 1200};
  TunedRanks ranks;
  ranks.recalled = [](const TunedClass& /*of*/) {
    return Tuner::Recalled{.is_known = true,
                           .kept = Implementation::alternative,
                           .number = first_recalled_number + 7,
                           .next_alternative = 3,
                           .calls_until_next = 100};
  };
  constexpr AlternativeNumbers expected = {first_recalled_number + 7, 3, 4};
  ranks.calls(4, small_call, times);
  EXPECT_THAT(ranks.calls(100, small_call, times), Each(Implementation::alternative));
  EXPECT_EQ(ranks.alternatives, expected);
  // In this trial, the former alternative is faster than the others.
  ranks.longer_by_number_ns = [](std::uint16_t number) {
    return number < first_recalled_number ? 500 : 0;
  };
  const auto trial = ranks.calls(first_trial, small_call, times);
  EXPECT_GT(calls_by(trial, Implementation::chosen), 0U);
  EXPECT_THAT(ranks.calls(200, small_call, times), Each(Implementation::alternative));
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{first_recalled_number + 7, 5, 6}));
}

TEST(Tuner, TriesASuggestedAlternativeFirst) {
  constexpr CallNs times = {1000, 1400, 1200};
  TunedRanks ranks;
  ranks.recalled = [](const TunedClass& /*of*/) {
    return Tuner::Recalled{.has_suggestion = true, .number = first_recalled_number + 1};
  };
  ranks.longer_by_number_ns = [](std::uint16_t number) {
    return number < first_recalled_number ? 0 : -900;
  };
  EXPECT_THAT(ranks.calls(4, small_call, times), Each(Implementation::chosen));
  ranks.call(small_call, times);
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{first_recalled_number + 1, 0, 1}));
  ranks.calls(first_trial, small_call, times);
  EXPECT_THAT(ranks.calls(20, small_call, times), Each(Implementation::alternative));
  EXPECT_EQ(ranks.alternatives, (AlternativeNumbers{first_recalled_number + 1, 2, 3}));
}

TEST(Tuner, StatesHowManyCallsRemainUntilTheNextTrial) {
  TunedRanks ranks;
  const auto& result = ranks.tuner(0).latest_result();
  while (!result) ranks.call(small_call, {1000, 1200, 800});
  ranks.calls(10, small_call, {1000, 1200, 800});
  std::vector<std::uint32_t> left;
  ranks.tuner(0).visit_tried([&](const TunedClass& of, const Tuner::ClassProgress& progress) {
    EXPECT_EQ(of, result->of);
    EXPECT_FALSE(progress.is_interrupted);
    left.push_back(progress.calls_until_next);
  });
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front() + 10, result->record.calls_until_next);
}

// Otherwise short runs would spend all their calls in trials that never end.
TEST(Tuner, PostponesATrialThatTheEndOfARunInterrupts) {
  TunedRanks ranks;
  const auto& result = ranks.tuner(0).latest_result();
  while (!result) ranks.call(small_call, {1000, 1200, 800});
  ranks.calls(static_cast<int>(result->record.calls_until_next) + 10, small_call,
              {1000, 1200, 800});
  std::uint32_t left = 0;
  ranks.tuner(0).visit_tried([&](const TunedClass& /*of*/, const Tuner::ClassProgress& progress) {
    EXPECT_TRUE(progress.is_interrupted);
    left = progress.calls_until_next;
  });
  EXPECT_GT(left, 1000U);
}

// The classes run in phases, each of which ends before a trial does.
TEST(Tuner, RarelyRepeatsTrialsThatMakeRoomForOthers) {
  TunedRanks ranks;
  std::vector<TunedCall> classes;
  for (std::size_t bytes = 8; bytes <= 8 << 9; bytes *= 2)
    classes.push_back({Operation::allreduce, bytes, true});
  constexpr int phases = 200;
  constexpr int calls_of_phase = 150;
  std::size_t other_calls = 0;
  for (int phase = 0; phase < phases; ++phase) {
    for (const TunedCall& call : classes) {
      const auto calls = ranks.calls(calls_of_phase, call, {1000, 1900, 1900});
      other_calls += calls.size() - calls_by(calls, Implementation::chosen);
    }
  }
  EXPECT_LE(other_calls, phases * calls_of_phase * classes.size() / 20);
  std::size_t tried = 0;
  ranks.tuner(0).visit_tried(
      [&](const TunedClass& /*of*/, const Tuner::ClassProgress& /*progress*/) { ++tried; });
  EXPECT_EQ(tried, classes.size());
}

// A trial that has made room for another one counts as interrupted at the end of a run.
TEST(Tuner, RemembersThatATrialHasMadeRoom) {
  TunedRanks ranks;
  std::vector<TunedCall> classes;
  for (std::size_t bytes = 8; bytes <= 8 << 8; bytes *= 2)
    classes.push_back({Operation::allreduce, bytes, true});
  ranks.recalled = [](const TunedClass& /*of*/) {
    return Tuner::Recalled{.is_known = true, .calls_until_next = 1};
  };
  for (const TunedCall& call : classes) ranks.calls(200, call, {1000, 1200, 1100});
  std::vector<bool> interrupted;
  ranks.tuner(0).visit_tried([&](const TunedClass& of, const Tuner::ClassProgress& progress) {
    if (of.most_bytes != 8) return;
    EXPECT_GT(progress.calls_until_next, 1000U);
    interrupted.push_back(progress.is_interrupted);
  });
  EXPECT_EQ(interrupted, std::vector<bool>{true});
}

TEST(Tuner, SubtractsLongWaits) {
  TunedRanks ranks;
  ranks.late_ns = [](std::size_t rank) { return rank == 0 ? 5e9 : 0; };
  EXPECT_THAT(ranks.calls(first_trial, small_call, {1000, 1200, 500}).back(),
              Implementation::outside);
}

// The cache lines of its queue are where the other contenders have left them, until all have been
// used once.
TEST(Tuner, KeepsAnAlternativeThatIsSlowAtFirst) {
  constexpr int cold_calls = 10;
  TunedRanks ranks;
  int in_sequence = 0;
  ranks.longer_by_number_ns = [&](std::uint16_t number) {
    if (number != 1) return 1500;
    return in_sequence < cold_calls ? 4000 : 0;
  };
  for (int call = 0; call < first_trial; ++call) {
    const Implementation by = ranks.call(small_call, {2000, 1000, 3000});
    const bool is_it = by == Implementation::alternative && ranks.alternatives[ranks.which] == 1;
    in_sequence = is_it ? in_sequence + 1 : 0;
  }
  EXPECT_EQ(ranks.call(small_call, {2000, 1000, 3000}), Implementation::alternative);
  EXPECT_EQ(ranks.alternatives[ranks.which], 1);
}

// The alternative may take part again before the trial has ended.
TEST(Tuner, StatesThatTheNextTrialIsDue) {
  TunedRanks ranks;
  ranks.is_postponed = [](std::uint8_t which) { return which == 0; };
  ranks.postponed_calls = 5;
  const auto& result = ranks.tuner(0).latest_result();
  while (!result) ranks.call(small_call, {1000, 1200, 800});
  EXPECT_EQ(result->record.calls_until_next, 0U);
}

// The file of an earlier run may have been edited.
TEST(Tuner, DoesNotContinueOutsideIfThatWouldChangeResults) {
  TunedRanks ranks;
  ranks.recalled = [](const TunedClass& /*of*/) {
    return Tuner::Recalled{
        .is_known = true, .kept = Implementation::outside, .calls_until_next = 1000};
  };
  constexpr TunedCall ordered{Operation::allreduce, 4096, false};
  EXPECT_EQ(calls_by(ranks.calls(200, ordered, {1000, 900, 500}), Implementation::outside), 0U);
}

}  // namespace
}  // namespace huddle::team
