// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/ratio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace huddle::bench {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// Compare any table of confidence intervals for the median by order statistics.
TEST(Ratio, TakesTheIntervalFromTheOrderOfTheBatches) {
  const Estimate ten = estimate(one_to(10));
  EXPECT_EQ(ten.ratio, 5.5);
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  EXPECT_TRUE(ten.sure);
  const Estimate twenty = estimate(one_to(20));
  EXPECT_EQ(twenty.low, 6);
  EXPECT_EQ(twenty.high, 15);
  const Estimate many = estimate(one_to(2000));
  EXPECT_NEAR(many.low, 1000 - 1.96 * std::sqrt(2000) / 2, 2);
  EXPECT_NEAR(many.high, 1001 + 1.96 * std::sqrt(2000) / 2, 2);
}

TEST(Ratio, IsNotSureWithFiveBatches) {
  const Estimate five = estimate(one_to(5));
  EXPECT_FALSE(five.sure);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_TRUE(estimate(one_to(6)).sure);
}

TEST(Ratio, ComparesBatchWithBatch) {
  // A machine that is ten times slower in the second batch is slower for both sides.
  const PairedSamples samples{.native_ns = {{20, 20, 90}, {200, 200, 200}},
                              .huddle_ns = {{10, 10, 10}, {100, 100, 1}}};
  EXPECT_THAT(samples.ratios(), testing::ElementsAre(2, 2));
  EXPECT_EQ(middle_ns(samples.native_ns), 110);
}

TEST(Ratio, AveragesRatiosGeometrically) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{0.5, 2}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 2, 2}), 2);
}

// Times as measured on a shared machine: noise that is never negative, a drifting speed, and
// occasional time slices of other processes.
class Machine {
 public:
  explicit Machine(unsigned seed) : random_(seed) {}

  std::vector<double> batch(double ns) {
    std::vector<double> samples;
    for (int i = 0; i < 10; ++i) samples.push_back(ns * speed_ * (1 + noise_(random_)) + stolen());
    return samples;
  }
  void drift() { speed_ *= std::exp(wander_(random_)); }

 private:
  double stolen() { return unlucky_(random_) ? 4e6 : 0; }

  std::mt19937 random_;
  std::gamma_distribution<double> noise_{2, 0.05};
  std::normal_distribution<double> wander_{0, 0.1};
  std::bernoulli_distribution unlucky_{0.02};
  double speed_ = 1;
};

Estimate measured(double factor, unsigned seed) {
  Machine machine(seed);
  PairedSamples samples;
  for (int batch = 0; batch < 40; ++batch) {
    samples.native_ns.push_back(machine.batch(1000 * factor));
    samples.huddle_ns.push_back(machine.batch(1000));
    machine.drift();
  }
  return estimate(samples.ratios());
}

class Factor : public testing::TestWithParam<double> {};

TEST_P(Factor, LiesWithinTheIntervalAsOftenAsPromised) {
  constexpr unsigned tries = 1000;
  int found = 0;
  double width = 0;
  for (unsigned seed = 1; seed <= tries; ++seed) {
    const Estimate one = measured(GetParam(), seed);
    found += one.low <= GetParam() && GetParam() <= one.high ? 1 : 0;
    width += one.half_width() / tries;
  }
  // Two standard deviations of the count below the expected one.
  EXPECT_GE(found, 936);
  // An interval that contains everything would be useless.
  EXPECT_LT(width, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Ratio, Factor, testing::Values(1, 1.05, 1.5, 3, 1 / 1.5));

// A factor of 1.05 must be distinguished from 1 in at least 190 of 200 cases.
TEST(Ratio, DistinguishesFivePercentFromNone) {
  int told = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) told += measured(1.05, seed).low > 1 ? 1 : 0;
  EXPECT_GE(told, 190);
}

}  // namespace
}  // namespace huddle::bench
