// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/page_faults.h"

#include <gtest/gtest.h>

namespace huddle::threads {
namespace {

TEST(Budget, IsFractionOfProgramTime) {
  const Budget budget{.share = 0.02, .fault_s = 1e-3};
  EXPECT_EQ(budget.faults_left({.program_s = 0}, 1), 0);
  EXPECT_EQ(budget.faults_left({.program_s = 1}, 1), 20);
  EXPECT_EQ(budget.faults_left({.program_s = 1, .agent_s = 0.005, .faults = 5}, 1), 10);
  EXPECT_EQ(budget.faults_left({.program_s = 1, .agent_s = 1}, 1), 0);
}

// Budget saved over time is not spent at once, regardless of other processes.
TEST(Budget, LimitAppliesPerProcess) {
  const Budget budget{.share = 0.02, .fault_s = 1e-6, .most_faults = 100};
  EXPECT_EQ(budget.faults_left({.program_s = 10}, 1), 100);
  EXPECT_EQ(budget.faults_left({.program_s = 10}, 8), 800);
}

}  // namespace
}  // namespace huddle::threads
