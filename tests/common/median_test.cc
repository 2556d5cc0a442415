// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/arithmetic.h"

#include <gtest/gtest.h>

#include <vector>

namespace huddle {
namespace {

TEST(Median, IsTheMiddleValueOrTheMeanOfTwo) {
  EXPECT_EQ(median_of(std::vector<double>{3}), 3);
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 5}), 5);
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 5, 6}), 5.5);
}

}  // namespace
}  // namespace huddle
