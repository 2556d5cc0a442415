// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/bench/bench_report.h"

#include <gtest/gtest.h>

#include <limits>

namespace huddle::cli {
namespace {

TEST(PredictionError, FactorIsTheSameInBothDirections) {
  EXPECT_DOUBLE_EQ(times_off(100, 250), 2.5);
  EXPECT_DOUBLE_EQ(times_off(250, 100), 2.5);
  EXPECT_DOUBLE_EQ(times_off(7, 7), 1);
  EXPECT_TRUE(is_mispredicted(100, 201));
  EXPECT_TRUE(is_mispredicted(201, 100));
  EXPECT_FALSE(is_mispredicted(100, 200));
}

TEST(PredictionError, HasTheMedianAndTheNumberOfMispredictions) {
  const PredictionError error = prediction_error({1.1, 5, 1.3});
  EXPECT_EQ(error.points, 3U);
  EXPECT_DOUBLE_EQ(error.median_times_off, 1.3);
  EXPECT_EQ(error.mispredicted, 1U);
  EXPECT_EQ(prediction_error_text(error),
            "predicted and measured times differ by a factor of 1.30 in the median of 3 points; 1 "
            "point marked ? differ by more than 2");
  EXPECT_EQ(prediction_error_text(prediction_error({1.1})),
            "predicted and measured times differ by a factor of 1.10 in the median of 1 point, and "
            "by at most 2 everywhere");
}

TEST(PredictionError, IgnoresPointsWithoutAPrediction) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(prediction_error({nan, 1.5}).points, 1U);
  EXPECT_DOUBLE_EQ(prediction_error({nan, 1.5}).median_times_off, 1.5);
}

TEST(PredictionError, IsEmptyWithoutPoints) {
  EXPECT_EQ(prediction_error({}).points, 0U);
  EXPECT_EQ(prediction_error_text(prediction_error({})), "");
}

}  // namespace
}  // namespace huddle::cli
