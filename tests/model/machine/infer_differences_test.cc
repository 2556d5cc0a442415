// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/machine/infer.h"
#include "sampler.h"

namespace huddle::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Level level(const std::string& name, const std::vector<std::string>& groups) {
  Level made{name, {}, {}};
  for (const std::string& group : groups) made.groups.push_back(CpuSet::parse(group));
  return made;
}

Topology machine(const std::string& pus, std::vector<Level> levels) {
  Topology topology;
  topology.pus = CpuSet::parse(pus);
  topology.levels = std::move(levels);
  return topology;
}

const Ratio apart = exactly(1.8);

TEST(Differences, AreNoneIfBothAgree) {
  const Cluster inferred = in_order(around({cores(8, 20), cores(8, 20)}, apart));
  EXPECT_THAT(differences(inferred, machine("0-15", {level("l3", {"0-7", "8-15"}),
                                                     level("package", {"0-15"})})),
              IsEmpty());
}

TEST(Differences, NameALevelThatFirmwareHides) {
  const Cluster inferred = in_order(around({cores(8, 20), cores(8, 20)}, apart));
  EXPECT_THAT(differences(inferred, machine("0-15", {level("package", {"0-15"})})),
              ElementsAre("latencies divide package 0-15 into 2 groups (0-7, 8-15) that differ by "
                          "a factor of 1.8, which the firmware does not report"));
  EXPECT_THAT(differences(inferred, machine("0-15", {})),
              ElementsAre("latencies divide the machine into 2 groups (0-7, 8-15) that differ by a "
                          "factor of 1.8, which the firmware does not report"));
}

TEST(Differences, NameNestedHiddenLevels) {
  const Hidden die = around({cores(2, 10), cores(2, 10)}, exactly(2));
  const Cluster inferred = in_order(around({die, die}, exactly(2)));
  EXPECT_THAT(differences(inferred, machine("0-7", {})),
              ElementsAre("latencies divide cores 0-3 into 2 groups (0-1, 2-3) that differ by a "
                          "factor of 2.0, which the firmware does not report",
                          "latencies divide cores 4-7 into 2 groups (4-5, 6-7) that differ by a "
                          "factor of 2.0, which the firmware does not report",
                          "latencies divide the machine into 2 groups (0-3, 4-7) that differ by a "
                          "factor of 2.0, which the firmware does not report"));
}

TEST(Differences, NameGroupsBesideLoneCores) {
  const Cluster inferred = in_order(around({cores(4, 25)}, apart, 4));
  EXPECT_THAT(differences(inferred, machine("0-7", {level("l3", {"0-7"})})),
              ElementsAre("latencies show a group in l3 0-7 (4-7) that are closer than the others "
                          "by a factor of 1.8, which the firmware does not report"));
}

TEST(Differences, DescribeLevelsWithoutEffectAsCommon) {
  const Cluster inferred = in_order(cores(8, 50));
  EXPECT_THAT(differences(inferred, machine("0-7", {level("l2", {"0-1", "2-3", "4-5", "6-7"}),
                                                    level("package", {"0-7"})})),
              ElementsAre("cores of one l2 (0-1, 2-3, 4-5, 6-7) are no closer to each other than "
                          "to other neighbours, which is common"));
}

TEST(Differences, NameCrossingGroups) {
  const Cluster inferred = in_order(around({cores(4, 20), cores(4, 20)}, apart));
  EXPECT_THAT(differences(inferred, machine("0-7", {level("numa", {"0,2,4,6", "1,3,5,7"}),
                                                    level("package", {"0,2,4,6", "1,3,5,7"})})),
              ElementsAre("the firmware's numa/package groups (0,2,4,6, 1,3,5,7) contradict the "
                          "groups by latency (0-3, 4-7)"));
}

// Only the first hardware threads of some cores were measured.
TEST(Differences, IgnoreCoresThatWereNotMeasured) {
  const Cluster inferred = in_order(around({cores(2, 20), cores(2, 20)}, apart));
  const Topology smt = machine(
      "0-15", {level("core", {"0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"}),
               level("l3", {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"}),
               level("package", {"0-15"})});
  EXPECT_THAT(differences(inferred, smt), IsEmpty());
}

TEST(Differences, LimitTheNumberOfListedGroups) {
  const Cluster inferred = in_order(around(std::vector<Hidden>(12, cores(2, 20)), apart));
  EXPECT_THAT(
      differences(inferred, machine("0-23", {})),
      ElementsAre(
          "latencies divide the machine into 12 groups (0-1, 2-3, 4-5, 6-7, 8-9, 10-11, 12-13, "
          "14-15 and 4 more) that differ by a factor of 1.8, which the firmware does not report"));
}

TEST(Differences, AreNoneWithoutPairs) {
  EXPECT_THAT(differences(Cluster(), machine("0", {})), IsEmpty());
}

}  // namespace
}  // namespace huddle::machine
