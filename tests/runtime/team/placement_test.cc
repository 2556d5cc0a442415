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
#include <vector>

#include "../memory/numa_placement.h"
#include "common/system.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peers.h"
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

}  // namespace
}  // namespace huddle::team
