// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/node_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "model/machine/topology.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns two sockets with two cores with two threads each: cpus 0-1 are core 0, cpus 4-7 socket 1.
const machine::Topology& two_packages() {
  static const machine::Topology topology =
      machine::discover_from_synthetic("pack:2 numa:1 l3:1 core:2 pu:2").topology;
  return topology;
}

std::vector<int> bound(const std::string& word, int ranks) {
  const machine::Topology& topology = two_packages();
  return bound_processors(ranks, binding_groups(word, topology, topology.pus));
}

TEST(Binding, AssignsGroupsCyclically) {
  EXPECT_THAT(bound("core", 4), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(bound("hwthread", 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(bound("package", 4), ElementsAre(0, 4, 1, 5));
  EXPECT_THAT(bound("none", 4), ElementsAre(0, 1, 2, 3));
}

TEST(Binding, AcceptsTheWordsOfLaunchers) {
  EXPECT_EQ(bound("socket", 6), bound("package", 6));
  EXPECT_EQ(bound("l3cache", 6), bound("l3", 6));
  EXPECT_EQ(bound("numa", 6), bound("package", 6));
}

// Both distribute ranks with the same group over it in the same way.
TEST(Binding, PlacesRanksLikeATeam) {
  const machine::Topology& topology = two_packages();
  for (const std::string word : {"hwthread", "core", "l3", "numa", "package", "none"}) {
    const auto groups = binding_groups(word, topology, topology.pus);
    std::vector<team::CpuBinding> by_rank(11);
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      CPU_ZERO(&by_rank[rank].allowed);
      for (const int pu : groups[rank % groups.size()]) {
        CPU_SET(static_cast<std::size_t>(pu), &by_rank[rank].allowed);
      }
    }
    EXPECT_EQ(bound_processors(11, groups), team::processors_of(by_rank, topology)) << word;
  }
}

TEST(Binding, OmitsForbiddenHardwareThreads) {
  const machine::CpuSet usable({2, 3, 5});
  EXPECT_THAT(bound_processors(3, binding_groups("core", two_packages(), usable)),
              ElementsAre(2, 5, 3));
}

TEST(Binding, NamesTheGroupThatTheMachineLacks) {
  const auto complaint = [](const std::string& word) -> std::string {
    try {
      binding_groups(word, two_packages(), two_packages().pus);
      return "none";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(complaint("cores"), "--bind: this machine has no 'cores'; did you mean 'core'?");
  EXPECT_THAT(complaint("blackboard"), HasSubstr("'blackboard'; use one of hwthread, core, "));
}

}  // namespace
}  // namespace huddle::cli
