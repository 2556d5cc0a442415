// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "scene.h"

namespace huddle::mapping::test {
namespace {

using ::testing::ElementsAre;

Graph nothing(int size) { return GraphBuilder(size).finish(); }

TEST(Slots, LatencyIsThatOfInnermostSharedLevel) {
  const Scene scene(synthetic("pack:2 l3:2 core:2 pu:2"), nothing(2), 2);
  const SlotTree& tree = scene.tree();
  ASSERT_EQ(tree.size(), 32);
  std::vector<std::string> names;
  for (const SlotLevel& level : tree.levels()) names.push_back(level.name);
  EXPECT_THAT(names, ElementsAre("core", "l3", "package", "machine", "network"));
  EXPECT_EQ(tree.ns(0, 1), 10);
  EXPECT_EQ(tree.ns(0, 2), 30);
  EXPECT_EQ(tree.ns(0, 4), 90);
  EXPECT_EQ(tree.ns(0, 8), 270);
  EXPECT_EQ(tree.ns(0, 16), 1000);
  EXPECT_EQ(tree.ns(5, 5), 10) << "never 0";
}

TEST(Slots, LatenciesMatchCostModelOnAllRecordedMachines) {
  int machines = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(HUDDLE_SOURCE_DIR "/tests/model/machine/topologies")) {
    if (file.path().extension() != ".xml") continue;
    const machine::Machine machine =
        with_distances(machine::discover_from_xml(file.path()).topology);
    const machine::CostModel model(machine);
    const SlotTree tree(model, {machine.topology.pus.cpus(), 1, 0});
    ASSERT_EQ(tree.size(), machine.topology.pus.count());
    for (int a = 0; a < tree.size(); ++a) {
      for (int b = 0; b < a; ++b) {
        const int one = tree.slots()[static_cast<std::size_t>(a)].pu;
        const int other = tree.slots()[static_cast<std::size_t>(b)].pu;
        ASSERT_EQ(tree.ns(a, b), model.line_ns(one, other))
            << file.path() << " " << one << " " << other;
        ASSERT_EQ(tree.levels()[static_cast<std::size_t>(tree.level(a, b))].name,
                  joining_level_name(machine.topology, one, other));
      }
    }
    ++machines;
  }
  EXPECT_GT(machines, 15);
}

TEST(Slots, MeasuredPairsOverrideLevels) {
  machine::Machine machine = synthetic("core:3 pu:1");
  machine.pairs = machine::LinePairs{{0, 1, 2}, {0, 5, 70, 5, 0, 30, 70, 30, 0}, "every pair"};
  const machine::CostModel model(machine);
  const SlotTree tree(model, {{0, 1, 2}, 2, 1000});
  EXPECT_FALSE(tree.is_regular());
  EXPECT_EQ(tree.ns(0, 2), 70);
  EXPECT_EQ(tree.ns(3, 4), 5) << "on the other node";
  EXPECT_EQ(tree.ns(0, 3), 1000);
  EXPECT_GT(tree.ns(1, 1), 0);
}

TEST(Slots, OneHardwareThreadPerCoreWhileCoresSuffice) {
  const machine::Topology topology = synthetic("pack:1 core:4 pu:2").topology;
  const machine::CpuSet all = topology.pus;
  const machine::CpuSet none;
  EXPECT_THAT(chosen_pus(topology, all, none, 4, 1), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(chosen_pus(topology, all, none, 8, 2), ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(chosen_pus(topology, all, none, 5, 1).size(), 8U);
  EXPECT_THAT(chosen_pus(topology, machine::CpuSet({1, 2, 3}), none, 2, 1), ElementsAre(1, 2));
  EXPECT_THAT(chosen_pus(topology, all, machine::CpuSet({3}), 4, 1), ElementsAre(0, 3, 4, 6))
      << "who sits on the second thread of a core stands for it";
}

}  // namespace
}  // namespace huddle::mapping::test
