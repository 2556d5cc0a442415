// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/bandwidth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/machine/machine_file.h"
#include "scene.h"

namespace huddle::mapping::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Returns the number of these hardware threads in each group of a level.
std::map<int, int> per_group(const machine::Topology& topology, std::string_view level,
                             const std::vector<int>& pus) {
  std::map<int, int> counts;
  const machine::Level* const found = find_level(topology, level);
  for (std::size_t g = 0; g < found->groups.size(); ++g) {
    for (const int pu : pus) {
      if (found->groups[g].contains(pu)) ++counts[static_cast<int>(g)];
    }
  }
  return counts;
}

class TwoSockets : public ::testing::Test {
 protected:
  std::vector<int> balanced(int elements, const machine::CpuSet& required = {}) const {
    return balanced_pus(topology_, topology_.pus.cpus(), required, elements);
  }
  const machine::Topology topology_ =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/epyc-2x64-estimate.toml").topology;
};

TEST_F(TwoSockets, SocketsAndNumaNodesGetEqualNumbers) {
  EXPECT_THAT(per_group(topology_, "package", balanced(64)), ElementsAre(Pair(0, 32), Pair(1, 32)));
  for (const auto& [node, count] : per_group(topology_, "numa", balanced(64))) {
    EXPECT_EQ(count, 8) << node;
  }
  EXPECT_THAT(per_group(topology_, "package", balanced(9)), ElementsAre(Pair(0, 5), Pair(1, 4)));
}

TEST_F(TwoSockets, AllAreReturnedIfAllAreNeeded) {
  EXPECT_EQ(balanced(128), topology_.pus.cpus());
  EXPECT_EQ(balanced(1000), topology_.pus.cpus());
}

TEST_F(TwoSockets, RequiredHardwareThreadsAreAlwaysIncluded) {
  std::vector<int> first_socket;
  for (int pu = 0; pu < 40; ++pu) first_socket.push_back(pu);
  const std::vector<int> pus = balanced(64, machine::CpuSet(first_socket));
  for (const int pu : first_socket) EXPECT_TRUE(machine::CpuSet(pus).contains(pu)) << pu;
  EXPECT_EQ(per_group(topology_, "package", pus)[1], 24);
}

TEST(Balance, SingleNumaNodeReturnsAllCandidates) {
  const machine::Topology topology = synthetic("pack:1 l3:2 core:4 pu:1").topology;
  EXPECT_EQ(balanced_pus(topology, topology.pus.cpus(), {}, 3), topology.pus.cpus());
}

TEST(Balance, SingleNumaNodeUsesAllCoresBeforeFurtherHardwareThreads) {
  const machine::Topology topology = synthetic("pack:1 core:8 pu:2").topology;
  const std::vector<int> all = topology.pus.cpus();
  EXPECT_THAT(balanced_pus(topology, all, {}, 9), ElementsAre(0, 1, 2, 4, 6, 8, 10, 12, 14));
  EXPECT_THAT(balanced_pus(topology, all, machine::CpuSet({9}), 9),
              ElementsAre(0, 1, 2, 4, 6, 9, 10, 12, 14));
  EXPECT_THAT(balanced_pus(topology, all, machine::CpuSet({8, 9}), 9),
              ElementsAre(0, 2, 4, 6, 8, 9, 10, 12, 14));
  EXPECT_EQ(balanced_pus(topology, all, {}, 16), all);
}

TEST(Balance, CoresPrecedeFurtherHardwareThreads) {
  const machine::Topology topology = synthetic("pack:2 core:2 pu:2").topology;
  EXPECT_THAT(balanced_pus(topology, topology.pus.cpus(), {}, 6), ElementsAre(0, 1, 2, 4, 5, 6));
}

}  // namespace
}  // namespace huddle::mapping::test
