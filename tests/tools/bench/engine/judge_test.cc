// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/run_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace huddle::bench {
namespace {

using testing::ElementsAre;

EntryResult entry(std::vector<double> ns) {
  EntryResult one;
  one.ns = std::move(ns);
  return one;
}

const Bar at_most_2{Bar::Kind::time_at_most, 2};
const Bar at_least_half{Bar::Kind::rate_at_least, 0.5};

TEST(Judge, TakesTheRatioOfEachRoundAndTheirMedian) {
  const Verdict verdict = judge({.what = "x", .subject = 0, .rivals = {1}, .bar = at_most_2},
                                {entry({20, 30, 90}), entry({10, 20, 30})});
  EXPECT_THAT(verdict.ratios, ElementsAre(2, 1.5, 3));
  EXPECT_EQ(verdict.median, 2);
  EXPECT_TRUE(verdict.holds);
  EXPECT_GT(verdict.spread, 0);
  EXPECT_EQ(verdict.what, "x");
}

TEST(Judge, ComparesWithTheRivalThatIsBestOverall) {
  // The other rival is best in one round.
  const Verdict verdict = judge({.what = "x", .subject = 0, .rivals = {1, 2}, .bar = at_most_2},
                                {entry({30, 30, 30}), entry({5, 20, 20}), entry({10, 10, 10})});
  EXPECT_EQ(verdict.rival, 2U);
  EXPECT_THAT(verdict.ratios, ElementsAre(3, 3, 3));
  EXPECT_FALSE(verdict.holds);
}

TEST(Judge, ComparesRatesByMovedBytes) {
  const Requirement judgement{"x", 0, {1}, at_least_half, 1500, 1000};
  const Verdict verdict = judge(judgement, {entry({300}), entry({100})});
  EXPECT_THAT(verdict.ratios, ElementsAre(0.5));
  EXPECT_TRUE(verdict.holds);
  EXPECT_FALSE(judge(judgement, {entry({301}), entry({100})}).holds);
}

// A machine that is slow in some rounds is slow for both.
TEST(Judge, IsNotAffectedBySlowRounds) {
  rc::check([](const std::vector<std::uint8_t>& slowness) {
    RC_PRE(!slowness.empty());
    std::vector<double> subject;
    std::vector<double> rival;
    for (const auto slow : slowness) {
      subject.push_back(15.0 * (1 + slow));
      rival.push_back(10.0 * (1 + slow));
    }
    const Verdict verdict = judge({.what = "x", .subject = 1, .rivals = {0}, .bar = at_most_2},
                                  {entry(rival), entry(subject)});
    RC_ASSERT(std::abs(verdict.median - 1.5) < 1e-9);
    RC_ASSERT(verdict.holds);
  });
}

}  // namespace
}  // namespace huddle::bench
