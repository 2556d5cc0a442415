// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/cpu_binding.h"

#include <gtest/gtest.h>

namespace huddle::team {
namespace {

CpuBinding on(std::size_t processors) {
  CpuBinding where{};
  for (std::size_t cpu = 0; cpu < processors; ++cpu) CPU_SET(cpu, &where.allowed);
  return where;
}

// Two teams of two ranks each on two hardware threads: neither team alone is oversubscribed.
TEST(Crowds, CountAllProcessesOfTheJob) {
  EXPECT_TRUE(is_crowded_by_all(on(2), 4, 2));
  EXPECT_FALSE(is_crowded_by_all(on(2), 2, 2));
  EXPECT_FALSE(is_crowded_by_all(on(2), 0, 2)) << "nobody says how many there are";
}

TEST(Crowds, AreNotAssumedIfTheRankIsBound) { EXPECT_FALSE(is_crowded_by_all(on(1), 4, 2)); }

}  // namespace
}  // namespace huddle::team
