// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/placement_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/machine/topology.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::team {
namespace {

using ::testing::ElementsAre;

// Two sockets with four cores each and one hardware thread per core: cpus 0-3 and 4-7.
const machine::Topology& two_sockets() {
  static const machine::Topology topology =
      machine::discover_from_synthetic("pack:2 numa:1 l3:1 core:4 pu:1").topology;
  return topology;
}

// Two sockets with two cores each and two hardware threads per core: cpus 0-1 are the first core.
const machine::Topology& with_hardware_threads() {
  static const machine::Topology topology =
      machine::discover_from_synthetic("pack:2 numa:1 l3:1 core:2 pu:2").topology;
  return topology;
}

cpu_set_t set_of(const std::string& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : machine::CpuSet::parse(cpus)) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return set;
}

CpuBinding bound_to(const std::string& cpus, const std::string& at_start = "0-7") {
  return {.allowed = set_of(cpus), .processors = 0, .at_start = set_of(at_start)};
}

// Returns one rank per binding, in a job that may use the hardware threads `at_start`.
std::vector<CpuBinding> ranks_on(const std::vector<std::string>& bindings,
                                 const std::string& at_start = "0-7") {
  std::vector<CpuBinding> by_rank;
  for (const std::string& cpus : bindings) by_rank.push_back(bound_to(cpus, at_start));
  return by_rank;
}

bool is_shared(const std::vector<CpuBinding>& by_rank, const machine::Topology& topology,
               double most_cpus = 0) {
  return find_shared_cores(by_rank, topology, most_cpus).has_value();
}

TEST(SharedCores, AreFoundIfTwoRanksAreBoundToOneCore) {
  const auto shared = find_shared_cores(ranks_on({"0", "1", "1", "3"}), two_sockets(), 0);
  ASSERT_TRUE(shared.has_value());
  EXPECT_THAT(shared->ranks, ElementsAre(1, 2));
  EXPECT_EQ(shared->cpus.text(), "1");
  EXPECT_EQ(shared->cores, 1);
  EXPECT_EQ(shared->free_cpus.text(), "2,4-7");
  EXPECT_EQ(shared->free_cores, 5);
}

TEST(SharedCores, AreFoundIfAllRanksShareTooFewCores) {
  const auto shared = find_shared_cores(ranks_on({"0-1", "0-1", "0-1"}), two_sockets(), 0);
  ASSERT_TRUE(shared.has_value());
  EXPECT_THAT(shared->ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(shared->cpus.text(), "0-1");
  EXPECT_EQ(shared->cores, 2);
  EXPECT_EQ(shared->free_cores, 6);
}

TEST(SharedCores, AreFoundIfSeveralPairsShareACore) {
  const auto shared = find_shared_cores(ranks_on({"0", "4", "0", "4"}), two_sockets(), 0);
  ASSERT_TRUE(shared.has_value());
  EXPECT_THAT(shared->ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(shared->cpus.text(), "0,4");
  EXPECT_EQ(shared->free_cores, 6);
}

// The second rank can run on core 1 only if the first one leaves it.
TEST(SharedCores, AreNotReportedIfEachRankHasACoreInItsBinding) {
  EXPECT_FALSE(is_shared(ranks_on({"0-1", "0-1", "0-3", "2"}), two_sockets()));
  EXPECT_FALSE(is_shared(ranks_on({"0-3", "0-3", "4-7", "4-7"}), two_sockets()));
}

TEST(SharedCores, AreNotReportedForUnboundRanks) {
  EXPECT_FALSE(is_shared(ranks_on({"0-7", "0-7", "0-7"}), two_sockets()));
}

TEST(SharedCores, AreNotReportedIfRanksOutnumberCores) {
  EXPECT_FALSE(is_shared(ranks_on({"0", "0", "0"}, "0-1"), two_sockets()));
  EXPECT_FALSE(is_shared(std::vector<CpuBinding>(9, bound_to("0")), two_sockets()));
}

TEST(SharedCores, AreNotReportedIfTheJobHasNoOtherCores) {
  EXPECT_FALSE(is_shared(ranks_on({"2", "2"}, "2"), two_sockets())) << "a cgroup with one core";
  EXPECT_TRUE(is_shared(ranks_on({"2", "2"}, "2-3"), two_sockets()));
}

TEST(SharedCores, AreNotReportedIfRanksOutnumberTheAllocatedCpus) {
  EXPECT_FALSE(is_shared(ranks_on({"0", "0"}), two_sockets(), 1));
  EXPECT_TRUE(is_shared(ranks_on({"0", "0"}), two_sockets(), 2));
}

TEST(SharedCores, AreNotReportedIfRanksOutnumberTheCpuQuota) {
  std::vector<CpuBinding> by_rank = ranks_on({"0", "0"});
  for (CpuBinding& one : by_rank) one.processors = 1.5;
  EXPECT_FALSE(is_shared(by_rank, two_sockets()));
  for (CpuBinding& one : by_rank) one.processors = 2;
  EXPECT_TRUE(is_shared(by_rank, two_sockets()));
}

TEST(SharedCores, CountAtMostTheAllocatedCpusAsFree) {
  const auto shared = find_shared_cores(ranks_on({"0", "0"}), two_sockets(), 4);
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(shared->free_cores, 3);
}

TEST(SharedCores, AreFoundIfTwoRanksUseTheHardwareThreadsOfOneCore) {
  const auto shared = find_shared_cores(ranks_on({"0", "1"}), with_hardware_threads(), 0);
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(shared->cpus.text(), "0-1");
  EXPECT_EQ(shared->cores, 1);
  EXPECT_EQ(shared->free_cpus.text(), "2-7");
  EXPECT_EQ(shared->free_cores, 3);
}

TEST(SharedCores, AreNotReportedIfAllCoresAreNeeded) {
  const std::vector<std::string> all = {"0", "1", "2", "3", "4", "5", "6", "7"};
  EXPECT_FALSE(is_shared(ranks_on(all), with_hardware_threads())) << "more ranks than cores";
  EXPECT_FALSE(is_shared(ranks_on({"0-1", "2-3", "4-5", "6-7"}), with_hardware_threads()));
}

TEST(SharedCores, AreNotReportedIfABindingIsUnknown) {
  EXPECT_FALSE(is_shared({bound_to("0"), bound_to("0"), bound_to("")}, two_sockets()));
  EXPECT_FALSE(is_shared({bound_to("0"), bound_to("0", "")}, two_sockets()));
  EXPECT_FALSE(is_shared({bound_to("9"), bound_to("9")}, two_sockets())) << "not in the topology";
}

// Each rank was started by a process of its own that is bound to one core.
TEST(SharedCores, AreFoundIfLaunchersOfRanksHaveOtherCores) {
  EXPECT_TRUE(is_shared({bound_to("0", "0"), bound_to("0", "1")}, two_sockets()));
}

TEST(SharedCores, AreNotReportedForOneRank) {
  EXPECT_FALSE(is_shared(ranks_on({"0"}), two_sockets()));
}

TEST(MemoryNodes, AreRemoteIfMostPagesAreOnOneOtherNode) {
  const std::vector<int> pages = {1, 1, 1, 0, 1, 1, 0, 1};
  const MemoryNodes nodes = memory_nodes(bound_to("2"), two_sockets(), pages);
  EXPECT_TRUE(nodes.are_remote());
  EXPECT_EQ(nodes.cpu_node, 0);
  EXPECT_EQ(nodes.memory_node, 1);
  EXPECT_EQ(nodes.pages_there, 6);
  EXPECT_EQ(nodes.pages, 8);
  EXPECT_FALSE(memory_nodes(bound_to("6"), two_sockets(), pages).are_remote()) << "its own node";
}

TEST(MemoryNodes, AreNotRemoteIfPagesAreSpreadOverNodes) {
  static const machine::Topology four =
      machine::discover_from_synthetic("pack:4 numa:1 l3:1 core:1 pu:1").topology;
  const std::vector<int> pages = {0, 0, 1, 1, 2, 2, 3, 3};
  EXPECT_FALSE(memory_nodes(bound_to("0", "0-3"), four, pages).are_remote());
}

TEST(MemoryNodes, AreNotRemoteIfTheRankMayRunOnBothNodes) {
  const std::vector<int> pages(8, 1);
  EXPECT_FALSE(memory_nodes(bound_to("0-7"), two_sockets(), pages).are_remote());
  EXPECT_TRUE(memory_nodes(bound_to("0-3"), two_sockets(), pages).are_remote());
}

TEST(MemoryNodes, AreNotRemoteIfTooFewPagesAreKnown) {
  std::vector<int> pages(8, memory::unknown_node);
  EXPECT_FALSE(memory_nodes(bound_to("0"), two_sockets(), pages).are_remote());
  pages[0] = 1;
  EXPECT_FALSE(memory_nodes(bound_to("0"), two_sockets(), pages).are_remote());
  EXPECT_FALSE(memory_nodes(bound_to("0"), two_sockets(), {}).are_remote());
}

// Memory without hardware threads, such as HBM, is on another node because the user wants it there.
TEST(MemoryNodes, IgnorePagesOnNodesWithoutHardwareThreads) {
  machine::Topology with_hbm = two_sockets();
  machine::NumaNode hbm = with_hbm.numa.front();
  hbm.number = 2;
  hbm.memory_only = true;
  with_hbm.numa.push_back(hbm);
  const std::vector<int> pages(8, 2);
  EXPECT_FALSE(memory_nodes(bound_to("0"), with_hbm, pages).are_remote());
}

TEST(MemoryNodes, AreUnknownIfTheNodeIsNotInTheTopology) {
  const std::vector<int> pages(8, 5);
  EXPECT_FALSE(memory_nodes(bound_to("0"), two_sockets(), pages).are_remote());
}

}  // namespace
}  // namespace huddle::team
