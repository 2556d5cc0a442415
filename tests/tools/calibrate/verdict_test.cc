// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "simulated.h"

namespace huddle::calibrate {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Judge, AcceptsQuietMeasurement) {
  NoisySampler sampler(50, 0.02, 7);
  const std::array threads = {ThreadUse{0, 1e7, 9.99e6, 1}, ThreadUse{1, 1e7, 1e7, 0}};
  const Verdict verdict = judge(summarize(sampler.series(64)), threads, usual_tolerance);
  EXPECT_TRUE(verdict.steady()) << verdict.reasons.front();
  EXPECT_LT(verdict.badness, 0.5);
}

TEST(Judge, ReportsDisturbedCpu) {
  NoisySampler sampler(50, 0.02, 7);
  const std::array threads = {ThreadUse{4, 1e7, 1e7, 0}, ThreadUse{11, 1e7, 5e6, 3}};
  const Verdict verdict = judge(summarize(sampler.series(64)), threads, usual_tolerance);
  ASSERT_EQ(verdict.reasons.size(), 1U);
  EXPECT_EQ(verdict.reasons.front(),
            "other programs ran on hardware thread 11 for 50 % of the time (3 involuntary context "
            "switches)");
}

TEST(Judge, ReportsEveryReason) {
  std::vector<double> samples(60, 10.0);
  for (std::size_t i = 0; i < 20; i += 2) samples[i] = 12;
  for (std::size_t i = 40; i < 60; ++i) samples[i] = 14;
  samples[5] = 900;
  const Verdict verdict = judge(summarize(samples), {}, usual_tolerance);
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("outliers")));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("parts of the run differ")));
  EXPECT_GT(verdict.badness, 1);
}

TEST(Judge, DetectsSpreadAlone) {
  NoisySampler sampler(50, 0.2, 3);
  EXPECT_THAT(judge(summarize(sampler.series(200)), {}, usual_tolerance).reasons,
              Contains(HasSubstr("vary")));
}

TEST(TakenAway, IsFraction) {
  EXPECT_EQ(taken_away({0, 0, 0, 0}), 0);
  EXPECT_EQ(taken_away({0, 100, 101, 0}), 0);
  EXPECT_DOUBLE_EQ(taken_away({0, 100, 25, 0}), 0.75);
}

// With a simulated sampler and 2 % noise, at most 1 run in 100 may have a doubtful measurement,
// over all measurements of the run. Short series deviate most.
TEST(Judge, FlagsLessThanOneInHundredSimulatedRuns) {
  constexpr int runs = 2000;
  constexpr int measurements_a_run = 400;
  constexpr std::array<std::size_t, 4> lengths = {9, 12, 32, 12};
  NoisySampler sampler(50, 0.02, 20261120);
  int flagged = 0;
  std::vector<double> samples;
  for (int run = 0; run < runs; ++run) {
    bool any = false;
    for (int i = 0; i < measurements_a_run; ++i) {
      samples.resize(lengths[static_cast<std::size_t>(i) % lengths.size()]);
      for (double& sample : samples) sample = sampler.next();
      any = any || !judge(summarize(samples), {}, usual_tolerance).steady();
    }
    flagged += any ? 1 : 0;
  }
  EXPECT_LT(flagged, runs / 100);
}

// The same sampler with a program that takes half of the time in time slices is always flagged.
TEST(Judge, FlagsEverySimulatedBusyLoop) {
  NoisySampler sampler(10'000, 0.02, 5);  // 10 us per sample
  for (int run = 0; run < 500; ++run) {
    auto samples = sampler.series(1000);
    samples[static_cast<std::size_t>(run)] += 3e6;  // one time slice of 3 ms
    const Verdict verdict = judge(summarize(samples), {}, usual_tolerance);
    EXPECT_FALSE(verdict.steady());
  }
}

TEST(ChangeOfLine, IsReportedIfLatencyChanged) {
  EXPECT_EQ(change_of_line(50, 50), "");
  EXPECT_EQ(change_of_line(50, 53), "");
  EXPECT_THAT(change_of_line(50, 200), HasSubstr("200 ns at the end of the run, 50 ns"));
  EXPECT_NE(change_of_line(200, 50), "");
}

}  // namespace
}  // namespace huddle::calibrate
