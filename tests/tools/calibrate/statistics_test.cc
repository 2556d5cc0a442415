// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "simulated.h"

namespace huddle::calibrate {
namespace {

TEST(Summarize, EmptySeriesIsZero) {
  const Summary summary = summarize({});
  EXPECT_EQ(summary.count, 0U);
  EXPECT_EQ(summary.median, 0);
}

TEST(Summarize, FindsGivenNoise) {
  NoisySampler sampler(50, 0.02, 1);
  const Summary summary = summarize(sampler.series(20000));
  EXPECT_NEAR(summary.median, 50, 0.1);
  EXPECT_NEAR(summary.spread, 0.02, 0.001);
  EXPECT_EQ(summary.outliers, 0U);
  EXPECT_EQ(summary.lost, 0);
  EXPECT_LT(summary.drift, 0.002);
}

// The effect of a busy loop on one core: the median is unchanged, but the lost time shows it.
TEST(Summarize, DetectsLostTimeDespiteGoodMedian) {
  std::vector<double> samples(1000, 10.0);
  for (std::size_t i = 100; i < samples.size(); i += 300) samples[i] = 3000;
  const Summary summary = summarize(samples);
  EXPECT_EQ(summary.median, 10);
  EXPECT_EQ(summary.spread, 0);
  EXPECT_EQ(summary.outliers, 3U);
  EXPECT_EQ(summary.worst, 3000);
  EXPECT_NEAR(summary.lost, 3 * 2980.0 / (997 * 10 + 9000), 1e-12);
}

TEST(Summarize, DetectsDriftBetweenParts) {
  std::vector<double> samples(60, 10.0);
  std::fill(samples.begin() + 40, samples.end(), 13.0);
  EXPECT_NEAR(summarize(samples).drift, 0.3, 1e-12);
}

TEST(Summarize, FewSamplesShowNoDrift) {
  EXPECT_EQ(summarize(std::vector<double>{1, 1, 1, 2, 2, 2, 3, 3, 3}).drift, 0);
}

TEST(SlowestAndWorst, CombinesWorstOfBoth) {
  const Summary fast = summarize(std::vector<double>(20, 10.0));
  const Summary slow = summarize(std::vector<double>(12, 20.0));
  const Summary both = slowest_and_worst(fast, slow);
  EXPECT_EQ(both.count, 12U);
  EXPECT_EQ(both.median, 20);
  EXPECT_EQ(both.spread, 0);
  EXPECT_EQ(slowest_and_worst(fast, summarize({})).count, 0U);
}

TEST(Slope, RequiresTwoPoints) {
  const std::vector<double> x = {1, 2, 4};
  EXPECT_DOUBLE_EQ(*slope(x, std::vector<double>{15, 25, 45}), 10);
  EXPECT_DOUBLE_EQ(*slope(x, std::vector<double>{9, 8, 6}), -1);
  EXPECT_FALSE(slope(std::vector<double>{3}, std::vector<double>{70}));
  EXPECT_FALSE(slope({}, {}));
}

RC_GTEST_PROP(Summarize, IsIndependentOfUnit, ()) {
  const auto raw =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000000)));
  std::vector<double> samples(raw.begin(), raw.end());
  const Summary ns = summarize(samples);
  for (double& sample : samples) sample *= 1024;  // exact in binary
  const Summary scaled = summarize(samples);
  RC_ASSERT(scaled.median == ns.median * 1024);
  RC_ASSERT(scaled.spread == ns.spread);
  RC_ASSERT(scaled.lost == ns.lost);
  RC_ASSERT(scaled.drift == ns.drift);
  RC_ASSERT(ns.lost >= 0 && ns.lost < 1);
  RC_ASSERT(*std::min_element(raw.begin(), raw.end()) <= ns.median);
  RC_ASSERT(ns.median <= ns.worst);
}

}  // namespace
}  // namespace huddle::calibrate
