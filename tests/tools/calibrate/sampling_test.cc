// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace huddle::calibrate {
namespace {

constexpr double long_seconds = 3600;
const std::atomic<bool> never{false};
const Tolerance usual;

Samples steady(double ns) { return {std::vector<double>(20, ns), {}, {}}; }
Samples unsteady(double ns, double share) {
  return {std::vector<double>(20, ns), {}, {ThreadUse{1, 100, 100 - 100 * share, 9}}};
}

TEST(Measure, SteadySeriesIsMeasuredOnce) {
  int calls = 0;
  const Measured measured = measure(usual, Budget(long_seconds, never), [&](const Budget&) {
    ++calls;
    return steady(5);
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(measured.attempts, 1);
  EXPECT_EQ(measured.summary.median, 5);
}

TEST(Measure, RepeatsUntilSteady) {
  int calls = 0;
  const Measured measured = measure(usual, Budget(long_seconds, never), [&](const Budget&) {
    return ++calls == 1 ? unsteady(9, 0.5) : steady(5);
  });
  EXPECT_EQ(measured.attempts, 2);
  EXPECT_EQ(measured.summary.median, 5);
  EXPECT_TRUE(measured.verdict.steady());
}

TEST(Measure, KeepsSteadiestAttemptAndItsFlag) {
  int calls = 0;
  const double shares[] = {0.6, 0.3, 0.9};
  const Measured measured = measure(usual, Budget(long_seconds, never), [&](const Budget&) {
    const int call = calls++;
    return unsteady(call, shares[call]);
  });
  EXPECT_EQ(measured.attempts, 1 + most_repetitions);
  EXPECT_EQ(measured.summary.median, 1);
  EXPECT_FALSE(measured.verdict.steady());
}

TEST(Measure, DoesNotRepeatWithoutTime) {
  const Measured measured =
      measure(usual, Budget(0, never), [](const Budget&) { return unsteady(9, 0.5); });
  EXPECT_EQ(measured.attempts, 1);
  EXPECT_TRUE(measured.usable());
}

// A hybrid CPU: fast and slow cores, each of them steady.
TEST(Measure, JudgesEachCoreSeparately) {
  const Measured measured = measure(usual, Budget(long_seconds, never), [](const Budget&) {
    return Samples{std::vector<double>(20, 10), {std::vector<double>(20, 20)}, {}};
  });
  EXPECT_TRUE(measured.verdict.steady()) << measured.verdict.reasons.front();
  EXPECT_EQ(measured.attempts, 1);
  EXPECT_EQ(measured.summary.median, 20);
}

TEST(Measure, DetectsOneUnsteadyCore) {
  std::vector<double> drifting(20, 10);
  std::fill(drifting.begin(), drifting.begin() + 7, 15);
  const Measured measured = measure(usual, Budget(long_seconds, never), [&](const Budget&) {
    return Samples{std::vector<double>(20, 10), {drifting, std::vector<double>(20, 10)}, {}};
  });
  EXPECT_FALSE(measured.verdict.steady());
}

TEST(Measure, EmptySeriesIsNotUsable) {
  EXPECT_FALSE(measure(usual, Budget(0, never), [](const Budget&) { return Samples{}; }).usable());
}

TEST(Progress, ContinuesToLeastAfterItsSeconds) {
  const Budget budget(long_seconds, never);
  const Progress progress({.least = 3, .most = 5, .seconds = 0}, budget);
  EXPECT_TRUE(progress.wants_more(2));
  EXPECT_FALSE(progress.wants_more(3));
}

TEST(Progress, EndsAtMost) {
  const Budget budget(long_seconds, never);
  const Progress progress({.least = 3, .most = 5, .seconds = long_seconds}, budget);
  EXPECT_TRUE(progress.wants_more(4));
  EXPECT_FALSE(progress.wants_more(5));
}

TEST(Progress, EndsWithBudgetAfterFewSamples) {
  EXPECT_TRUE(Progress({}, Budget(0, never)).wants_more(samples_in_any_case - 1));
  EXPECT_FALSE(Progress({}, Budget(0, never)).wants_more(samples_in_any_case));
}

TEST(Progress, EndsAtOnceWhenStopped) {
  const std::atomic<bool> stop{true};
  EXPECT_FALSE(Progress({}, Budget(long_seconds, stop)).wants_more(0));
}

// Exact nanoseconds regardless of the uptime.
TEST(Clock, StartsWithTheProgram) {
  constexpr double ns_a_day = 24 * 3600 * ns_per_s;
  EXPECT_GE(now_ns(), 0);
  EXPECT_LT(now_ns(), ns_a_day);
}

TEST(Budget, SlicesEndWithBudget) {
  const Budget budget(0.5, never);
  EXPECT_LE(budget.slice(100).left_seconds(), 0.5);
  EXPECT_LE(budget.slice(0.1).left_seconds(), 0.1);
  EXPECT_EQ(budget.slice(-1).left_seconds(), 0);
  EXPECT_FALSE(budget.spent());
}

}  // namespace
}  // namespace huddle::calibrate
