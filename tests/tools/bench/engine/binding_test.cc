// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/rank_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace huddle::bench {
namespace {

using testing::ElementsAre;

TEST(BenchBinding, GivesEachRankItsOwnHardwareThreadIfPossible) {
  const Binding binding{2, {4, 6, 8}};
  EXPECT_FALSE(binding.oversubscribed());
  EXPECT_THAT(binding.pus_of(1), ElementsAre(6));
  EXPECT_THAT(binding.counted_for(), ElementsAre(4, 6));
  EXPECT_EQ(text(binding), "2 ranks, one on each of the hardware threads 4, 6");
}

TEST(BenchBinding, LetsAllRanksRunEverywhereIfOversubscribed) {
  const Binding binding{3, {4, 6}};
  EXPECT_TRUE(binding.oversubscribed());
  EXPECT_THAT(binding.pus_of(2), ElementsAre(4, 6));
  EXPECT_THAT(binding.counted_for(), ElementsAre(4, 6, 4));
  EXPECT_EQ(text(binding), "3 ranks on 2 hardware threads");
  EXPECT_EQ(text(Binding{2, {0}}), "2 ranks on 1 hardware thread");
}

TEST(BenchBinding, NamesForbiddenHardwareThreads) {
  constexpr int far_beyond = 100000;
  try {
    run_on({far_beyond});
    FAIL() << "ran there";
  } catch (const FailureError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("100000"));
  }
}

}  // namespace
}  // namespace huddle::bench
