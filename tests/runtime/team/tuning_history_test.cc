// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/tuning_history.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace huddle::team {
namespace {

using select::Operation;

constexpr std::array<int, 2> cpus = {0, 1};
constexpr std::array<int, 2> other_cpus = {0, 2};
constexpr memory::CopyMethod nontemporal = memory::CopyKernel::nontemporal;
constexpr select::PlanFeatures pairs_of_16k{"pairwise", 16384, nontemporal};

TunedClass gathers(std::size_t bytes) { return {Operation::gather, bytes, true}; }

TuningRecord kept(Implementation by, const select::PlanFeatures& plan) {
  return {.kept = by, .plan = plan, .median_ns = 1000, .calls_until_next = 500};
}

TEST(TuningHistory, SuggestsThePlanOfTheMostSimilarSize) {
  TuningHistory history;
  EXPECT_FALSE(history.suggestion(cpus, gathers(65536)));
  history.note(cpus, gathers(1024), kept(Implementation::alternative, {"slots", 1024, {}}));
  history.note(cpus, gathers(32768), kept(Implementation::alternative, pairs_of_16k));
  history.note(cpus, gathers(1 << 20), kept(Implementation::outside, {}));
  EXPECT_EQ(history.suggestion(cpus, gathers(65536)), pairs_of_16k);
  EXPECT_EQ(history.suggestion(cpus, gathers(2 << 20)), pairs_of_16k) << "the MPI has no plan";
  EXPECT_EQ(history.suggestion(cpus, gathers(8))->algorithm, "slots");
  EXPECT_FALSE(history.suggestion(other_cpus, gathers(65536)));
}

// The algorithm and its pieces depend on the operation, the copy method on the machine.
TEST(TuningHistory, SuggestsTheCopyMethodOfAnotherOperation) {
  TuningHistory history;
  history.note(cpus, gathers(64), kept(Implementation::alternative, {"inline", 0, {}}));
  history.note(cpus, gathers(32768), kept(Implementation::alternative, pairs_of_16k));
  const select::PlanFeatures expected{{}, 0, nontemporal};
  EXPECT_EQ(history.suggestion(cpus, {Operation::scatter, 64, true}), expected);
}

// Before the alternatives have had a trial, the predicted plan is no better than any other.
TEST(TuningHistory, DoesNotSuggestAPlanThatNoTrialHasCompared) {
  TuningHistory history;
  history.note(cpus, gathers(1024), kept(Implementation::alternative, {"slots", 1024, {}}));
  TuningRecord first_round = kept(Implementation::chosen, pairs_of_16k);
  first_round.is_settled = false;
  history.note(cpus, gathers(32768), first_round);
  EXPECT_EQ(history.suggestion(cpus, gathers(65536))->algorithm, "slots");
  EXPECT_FALSE(history.suggestion(cpus, gathers(1024))) << "its own result";
}

// Two teams of the same ranks may try a class at the same time.
TEST(TuningHistory, KeepsASettledResult) {
  TuningHistory history;
  TuningRecord first_round = kept(Implementation::outside, {});
  first_round.is_settled = false;
  history.note(cpus, gathers(64), first_round);
  EXPECT_EQ(history.find(cpus, gathers(64))->kept, Implementation::outside);
  history.note(cpus, gathers(64), kept(Implementation::alternative, pairs_of_16k));
  history.note(cpus, gathers(64), first_round);
  EXPECT_EQ(history.find(cpus, gathers(64))->kept, Implementation::alternative);
  history.note_calls(cpus, gathers(64), {5, false, true});
  EXPECT_EQ(history.find(cpus, gathers(64))->calls_until_next, 500U);
}

TEST(TuningHistory, KeepsTheLowestNumberOfCallsUntilTheNextTrial) {
  TuningHistory history;
  history.note(cpus, gathers(64), kept(Implementation::chosen, {}));
  const auto calls_left = [&] { return history.find(cpus, gathers(64))->calls_until_next; };
  history.note_calls(cpus, gathers(64), {700});
  EXPECT_EQ(calls_left(), 500U);
  history.note_calls(cpus, gathers(64), {300});
  EXPECT_EQ(calls_left(), 300U);
}

// Otherwise each of several short runs would begin the same trial and not end it.
TEST(TuningHistory, PostponesATrialThatWasInterrupted) {
  const TuningHistory::Records stored = {{{{0, 1}, gathers(64)}, kept(Implementation::chosen, {})}};
  TuningHistory history(stored);
  history.note_calls(cpus, gathers(64), {50'000, true, true});
  ASSERT_EQ(history.changed().size(), 1U);
  EXPECT_EQ(history.changed().begin()->second.calls_until_next, 50'000U);
  history.note_calls(cpus, gathers(64), {40'000, true, true});
  EXPECT_EQ(history.changed().begin()->second.calls_until_next, 40'000U)
      << "the stored number has elapsed";
}

}  // namespace
}  // namespace huddle::team
