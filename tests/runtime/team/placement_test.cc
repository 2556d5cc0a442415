// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory of each rank is on the NUMA node on which the rank runs, also as seen by its peers.
// This test requires several nodes to be meaningful: tests/lab/numa_guest.sh runs it on four.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../memory/numa_placement.h"
#include "common/system.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/cpu_binding.h"
#include "runtime/team/peers.h"
#include "runtime/team/placement_check.h"
#include "runtime/team/team.h"
#include "runtime/team/team_context.h"
#include "setup.h"

namespace huddle::team {
namespace {

using ::testing::Each;
using How = RankEnd::How;

// Binds this thread to the hardware threads of that node. Does nothing if there are no nodes.
void move_to_node(int node) {
  const auto list =
      System().read("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  if (!list) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : machine::CpuSet::parse(*list)) CPU_SET(static_cast<std::size_t>(cpu), &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

void expect_on(const std::byte* data, std::size_t bytes, int node) {
  const memory::Placement placement = memory::check_placement({data, bytes}, node);
  EXPECT_EQ(placement.pages, bytes / memory::page_bytes());
  EXPECT_EQ(placement.elsewhere, 0U) << "of the pages for node " << node;
}

TEST(Placement, OfPiecesIsTheNodeOfTheirRank) {
  const std::vector<int> nodes = memory::allowed_numa_nodes();
  const int ranks = std::max(2, static_cast<int>(nodes.size()));
  const std::size_t bytes = 100 * memory::page_bytes();
  const auto ends = run_ranks(ranks, [&](const Bootstrap& bootstrap) {
    const auto node_of = [&](int rank) {
      return nodes[static_cast<std::size_t>(rank) % nodes.size()];
    };
    move_to_node(node_of(bootstrap.rank));
    Peers peers(new_arena());
    const auto bring = [&](memory::Arena& arena) {
      return arena.allocate(bytes, memory::page_bytes());
    };
    for (int round = 0; round < 3; ++round) {
      const auto members = peers.join(bootstrap, bring);
      for (int rank = 0; rank < ranks; ++rank)
        expect_on(members->piece(rank), bytes, node_of(rank));
    }
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// The locations of the pages are supplied: rank 1 runs on node 0, and its data are on node 1.
TEST(Placement, OfDataIsKnownToAllRanks) {
  const auto ends = run_ranks(2, [](const Bootstrap& own) {
    ContextOptions options = generic_options("pack:2 numa:1 l3:1 core:64 pu:1", 64 * MiB);
    Context context(std::move(options));
    const std::vector<int> page_nodes(sampled_pages, own.rank);
    Bootstrap bootstrap = own;
    bootstrap.page_nodes = page_nodes;
    const Team team(context, bootstrap);
    const auto& nodes = team.group()->memory_nodes();
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_FALSE(nodes[0].are_remote());
    EXPECT_TRUE(nodes[1].are_remote());
    EXPECT_EQ(nodes[1].memory_node, 1);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// Each rank runs on the last node, and its data are on the first one.
TEST(Placement, OfDataIsFoundBySampling) {
  const std::vector<int> nodes = memory::allowed_numa_nodes();
  const auto ends = run_ranks(1, [&](const Bootstrap& /*bootstrap*/) {
    move_to_node(nodes.back());
    const memory::PageBuffer data(100 * memory::page_bytes(), nodes.front());
    data.touch();
    const std::vector<int> sampled = memory::sample_numa_nodes(data.bytes(), sampled_pages);
    const machine::Topology topology = machine::discover_this_machine().topology;
    const MemoryNodes found = memory_nodes(cpu_binding_of_this_thread(0), topology, sampled);
    EXPECT_EQ(found.are_remote(), nodes.size() > 1);
    EXPECT_TRUE(memory::allocates_on_own_node());
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Placement, AtStartContainsTheBindingOfEachRank) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    const CpuBinding mine = cpu_binding_of_this_thread(0);
    std::size_t only = 0;
    while (!CPU_ISSET(only, &mine.allowed)) ++only;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(only, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    Context context(two_core_options());
    const Team team(context, bootstrap);
    EXPECT_TRUE(CPU_EQUAL(&team.own_cpu_binding().allowed, &one));
    EXPECT_TRUE(CPU_EQUAL(&team.own_cpu_binding().at_start, &mine.allowed)) << "of the parent";
  });
  EXPECT_THAT(ends, Each(How::fine));
}

}  // namespace
}  // namespace huddle::team
