// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/cores_and_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/machine/topology.h"

namespace huddle::calibrate {
namespace {

using machine::CpuSet;
using machine::discover_from_synthetic;
using testing::ElementsAre;

const machine::Topology two_sockets =
    discover_from_synthetic("pack:2 numa:1 l3:2 core:4 pu:2").topology;  // 16 cores, 32 threads

TEST(MeasuredPus, AreOnePerCore) {
  const auto pus = measured_pus(two_sockets, two_sockets.pus);
  EXPECT_EQ(pus.size(), 16U);
  for (const int pu : pus) EXPECT_EQ(pu % 2, 0);
}

TEST(MeasuredPus, UseAllowedHardwareThread) {
  EXPECT_THAT(measured_pus(two_sockets, CpuSet({1, 2, 3, 8})), ElementsAre(1, 2, 8));
}

TEST(MeasuredPus, StayWithinTheMachine) {
  EXPECT_THAT(measured_pus(two_sockets, CpuSet({30, 31, 99})), ElementsAre(30));
}

TEST(AllPairs, AreHalfOfTheSquare) {
  EXPECT_TRUE(all_pairs({5}).empty());
  EXPECT_THAT(all_pairs({4, 1, 7}), ElementsAre(Pair(4, 1), Pair(4, 7), Pair(1, 7)));
}

TEST(PairsByLevel, ContainEverySharedLevel) {
  const auto levels = pairs_by_level(two_sockets, two_sockets.pus, 6);
  std::vector<std::string> names;
  for (const LevelPairs& level : levels) {
    names.push_back(level.level);
    EXPECT_LE(level.pairs.size(), 6U);
    for (const auto& [a, b] : level.pairs) {
      EXPECT_EQ(joining_level_name(two_sockets, a, b), level.level);
    }
  }
  EXPECT_EQ(names, joining_levels(two_sockets));
}

TEST(PairsByLevel, LeaveOutForbiddenHardwareThreads) {
  const auto levels = pairs_by_level(two_sockets, CpuSet({0, 2, 4}), 6);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels.front().level, "l3");
  EXPECT_EQ(levels.front().pairs.size(), 3U);
}

TEST(FullestGroup, ContainsMostHardwareThreads) {
  const auto pus = measured_pus(two_sockets, CpuSet({0, 8, 10, 12, 16}));
  EXPECT_THAT(fullest_group(two_sockets, "l3", pus), ElementsAre(8, 10, 12));
  EXPECT_EQ(fullest_group(two_sockets, "machine", pus), pus);
}

TEST(SpreadOver, ReachesAllParts) {
  EXPECT_THAT(spread_over({0, 1, 2, 3, 4, 5, 6, 7}, 2), ElementsAre(2, 6));
  EXPECT_THAT(spread_over({0, 1, 2, 3, 4, 5, 6, 7}, 4), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(spread_over({3, 9, 11}, 3), ElementsAre(3, 9, 11));
}

TEST(ReferencePu, IsNotTheFirstIfThereAreSeveral) {
  EXPECT_EQ(reference_pu({5}), 5);
  EXPECT_EQ(reference_pu({0, 1}), 1);
  EXPECT_NE(reference_pu(measured_pus(two_sockets, two_sockets.pus)), 0);
}

// If the first readers were nearer than the others, the slope would reflect distance.
TEST(WriterAndReaders, AreEquallyDistant) {
  const auto pus = measured_pus(two_sockets, two_sockets.pus);
  for (const std::string& level : joining_levels(two_sockets)) {
    if (level == "core") continue;  // hardware threads: only one per core is measured
    const auto chosen =
        writer_and_readers(two_sockets, level, fullest_group(two_sockets, level, pus), 16);
    ASSERT_GE(chosen.size(), 4U) << level;
    for (std::size_t i = 1; i < chosen.size(); ++i) {
      EXPECT_EQ(joining_level_name(two_sockets, chosen[0], chosen[i]), level);
    }
  }
}

TEST(WriterAndReaders, UseWriterWithMostReaders) {
  const auto pus = measured_pus(two_sockets, CpuSet({0, 2, 4, 6, 16}));
  EXPECT_THAT(writer_and_readers(two_sockets, "machine", pus, 16), ElementsAre(16, 0, 2, 4, 6));
  EXPECT_THAT(writer_and_readers(two_sockets, "machine", pus, 2), ElementsAre(16, 2, 6));
}

TEST(DoublingTo, EndsWithAll) {
  EXPECT_THAT(doubling_to(1), ElementsAre());
  EXPECT_THAT(doubling_to(2), ElementsAre(2));
  EXPECT_THAT(doubling_to(6), ElementsAre(2, 4, 6));
  EXPECT_THAT(doubling_to(8), ElementsAre(2, 4, 8));
}

}  // namespace
}  // namespace huddle::calibrate
