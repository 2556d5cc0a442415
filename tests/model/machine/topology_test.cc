// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace huddle::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Topology two_sockets() {
  return discover_from_synthetic("pack:2 numa:2 l3:2 core:4 pu:2").topology;
}

TEST(GroupIndex, JoinsAllThreadsByTheMachineIfThereAreNoLevels) {
  Topology topology;
  topology.pus = CpuSet({0, 1});
  const GroupIndex index(topology);
  EXPECT_EQ(index.levels(), 0U);
  EXPECT_EQ(index.joining_level(0, 1), 0U);
}

TEST(Topology, NamesTheJoiningLevelOfTwoHardwareThreads) {
  const Topology topology = two_sockets();
  EXPECT_EQ(joining_level_name(topology, 0, 1), "core");
  EXPECT_EQ(joining_level_name(topology, 0, 7), "l3");
  EXPECT_EQ(joining_level_name(topology, 0, 8), "numa");
  EXPECT_EQ(joining_level_name(topology, 0, 31), "package");
  EXPECT_EQ(joining_level_name(topology, 0, 32), "machine");
  EXPECT_THAT(joining_levels(topology), ElementsAre("core", "l3", "numa", "package", "machine"));
}

TEST(Topology, RepeatedLevelsAreNotJoiningLevels) {
  const Topology topology = discover_from_synthetic("pack:1 l3:1 l2:2 core:1 pu:1").topology;
  EXPECT_THAT(joining_levels(topology), ElementsAre("l3"));
}

TEST(Topology, UnevenLevelsAreJoiningLevels) {
  // Two cores share an L2 and two have one each; the L3 joins all other pairs.
  Topology topology;
  topology.pus = CpuSet::parse("0-3");
  topology.levels = {{"l2", {CpuSet::parse("0-1"), CpuSet::parse("2"), CpuSet::parse("3")}, {}},
                     {"l3", {CpuSet::parse("0-3")}, {}}};
  validate(topology);
  EXPECT_EQ(joining_level_name(topology, 0, 1), "l2");
  EXPECT_EQ(joining_level_name(topology, 2, 3), "l3");
  EXPECT_THAT(joining_levels(topology), ElementsAre("l2", "l3"));
}

TEST(Topology, CountsCoresAndThreads) {
  const Topology topology = two_sockets();
  EXPECT_EQ(core_count(topology), 32);
  EXPECT_EQ(first_pu_of_cores(topology).at(1), 2);
}

TEST(Topology, FingerprintDependsOnlyOnModelAndTree) {
  Topology topology = two_sockets();
  topology.cpu_model = "AMD EPYC(TM) 9554 64-Core Processor @ 3.1GHz";
  const std::string print = fingerprint(topology);
  EXPECT_THAT(print, testing::StartsWith("amd-epyc-9554-64-32c-"));
  Topology other = topology;
  for (NumaNode& node : other.numa) node.bytes += 4096;
  EXPECT_EQ(fingerprint(other), print) << "memory size changes from boot to boot";
  other = topology;
  other.levels.pop_back();
  EXPECT_NE(fingerprint(other), print);
}

TEST(Topology, HomeNodeIsNeverMemoryOnly) {
  const Topology topology =
      discover_from_synthetic("pack:2 [numa(memory=1GB)] [numa(memory=1GB)] core:2 pu:1").topology;
  ASSERT_EQ(topology.numa.size(), 4U);
  EXPECT_TRUE(topology.numa[1].memory_only);
  EXPECT_EQ(home_node(topology, 0)->number, 0);
  EXPECT_EQ(home_node(topology, 3)->number, 2);
}

void expect_refused(const Topology& topology, const std::string& reason) {
  EXPECT_THAT([&] { validate(topology); }, ThrowsMessage<InputError>(HasSubstr(reason)));
}

TEST(Topology, RejectsInvalidTrees) {
  Topology topology;
  expect_refused(topology, "at least one hardware thread");
  topology.pus = CpuSet::parse("0-3");
  topology.levels = {{"l2", {CpuSet::parse("0-1"), CpuSet::parse("1-2")}, {}}};
  expect_refused(topology, "hardware thread 1 in two groups");
  topology.levels = {{"l2", {CpuSet::parse("0-1"), CpuSet::parse("2-7")}, {}}};
  expect_refused(topology, "hardware thread 4, which the machine does not have");
  topology.levels = {{"l2", {CpuSet::parse("0-2")}, {}}, {"l3", {CpuSet::parse("0-1")}, {}}};
  expect_refused(topology, "crosses");
  topology.levels = {{"l2", {CpuSet::parse("0-1")}, {1, 2}}};
  expect_refused(topology, "1 groups but 2 sizes");
  topology.levels = {{"machine", {CpuSet::parse("0-1")}, {}}};
  expect_refused(topology, "cannot be called 'machine'");
  topology.levels = {};
  topology.offline = CpuSet::parse("3-4");
  expect_refused(topology, "both online and offline");
}

}  // namespace
}  // namespace huddle::machine
