// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/internode_choice.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::internode {
namespace {

// 100 Mbit/s, 50 us.
constexpr Network slow = {50'000, 84'000'000, 0};

Chosen chosen(schedules::Operation operation, int nodes, std::size_t bytes,
              const Network& network) {
  const schedules::Sizes sizes =
      schedules::Sizes::listed(std::vector<std::size_t>(static_cast<std::size_t>(nodes), bytes));
  Demand demand{operation, nodes, 0, bytes, 1};
  if (operation == schedules::Operation::allgather) demand.blocks = &sizes;
  return cheapest(demand, network);
}

TEST(Choice, MinimizesRoundsForSmallAndBytesForLargeData) {
  EXPECT_EQ(chosen(schedules::Operation::allreduce, 8, 8, slow).algorithm, "doubling");
  EXPECT_NE(chosen(schedules::Operation::allreduce, 8, 1 << 20, slow).algorithm, "doubling");
  EXPECT_EQ(chosen(schedules::Operation::bcast, 8, 8, slow).algorithm, "knomial");
  EXPECT_NE(chosen(schedules::Operation::bcast, 8, 1 << 20, slow).algorithm, "knomial");
}

constexpr Network byte_a_ns = {1000, std::int64_t{1} << 20, 0};

std::int64_t ns_of(const char* algorithm, const schedules::Call& call, std::size_t block_bytes,
                   const Network& network) {
  const auto schedule = schedules::make_schedule(schedules::algorithm_named(algorithm), call);
  return predicted_ns(*schedule, schedules::Sizes::equal(block_bytes), network);
}

TEST(Choice, BothDirectionsCostTheSameInPairsAndRings) {
  Network network = byte_a_ns;
  // Seven rounds of one block; four rounds, the first of one block and the others of two.
  EXPECT_EQ(ns_of("allgather:ring", {.ranks = 8}, 100, network), 7 * (1000 + 100));
  EXPECT_EQ(ns_of("allgather:neighbor", {.ranks = 8}, 100, network), 4 * 1000 + 7 * 100);
  network.second_way_percent = 50;
  EXPECT_EQ(ns_of("allgather:ring", {.ranks = 8}, 100, network), 7 * (1000 + 150));
  EXPECT_EQ(ns_of("allgather:neighbor", {.ranks = 8}, 100, network), 4 * 1000 + 7 * 150);
}

// A ring has too many rounds for blocks of this size, and algorithms with fewer rounds save too
// little.
TEST(Choice, UsesNeighborExchangeForMediumBlocks) {
  const Network network = {1000, 100'000, 0};
  EXPECT_EQ(chosen(schedules::Operation::allgather, 12, 64, network).algorithm, "bruck");
  EXPECT_EQ(chosen(schedules::Operation::allgather, 12, 80 << 10, network).algorithm, "neighbor");
  EXPECT_EQ(chosen(schedules::Operation::allgather, 12, 1 << 20, network).algorithm, "ring");
}

TEST(Choice, FurtherMessagesOfARoundCostTheGap) {
  Network network = byte_a_ns;
  network.gap_ns = 350;
  const auto barrier_ns = [&](int radix) {
    return ns_of("barrier:dissemination", {.ranks = 16, .radix = radix}, 0, network);
  };
  EXPECT_EQ(barrier_ns(2), 4 * 1000);
  EXPECT_EQ(barrier_ns(4), 2 * (1000 + 2 * 350));
  EXPECT_EQ(barrier_ns(16), 1000 + 14 * 350);
  const Chosen best = chosen(schedules::Operation::barrier, 16, 0, network);
  EXPECT_EQ(best.schedule->call().radix, 4);
  EXPECT_EQ(best.ns, barrier_ns(4));
}

TEST(Choice, EachMessageCostsCpuTime) {
  Network network = byte_a_ns;
  network.cpu_ns = 200;
  const auto barrier_ns = [&](int radix) {
    return ns_of("barrier:dissemination", {.ranks = 16, .radix = radix}, 0, network);
  };
  EXPECT_EQ(barrier_ns(4), 2 * (1000 + 2 * 200));
  EXPECT_EQ(barrier_ns(16), 2 * 15 * 200) << "busy with sending, then with receiving";
}

// The bits of a floating point result must not depend on the choice.
TEST(Choice, NeverUsesAlgorithmsThatReorder) {
  for (int nodes = 1; nodes <= 20; ++nodes) {
    for (std::size_t bytes = 1; bytes <= std::size_t{1} << 26; bytes *= 8) {
      EXPECT_NE(chosen(schedules::Operation::allreduce, nodes, bytes, slow).algorithm, "ring");
    }
  }
}

// Nodes of 3, 1, 2 and 1 ranks: a node with one rank has to receive at least 6 blocks.
TEST(Choice, CutsLargeBlocksOfUnevenNodes) {
  const std::size_t block = std::size_t{150} << 10;
  const schedules::Sizes sizes =
      schedules::Sizes::listed(std::vector<std::size_t>{3 * block, block, 2 * block, block});
  const Chosen ring = cheapest({schedules::Operation::allgather, 4, 0, 7 * block, 1, &sizes}, slow);
  EXPECT_EQ(ring.algorithm, "ring");
  const std::int64_t least_ns = static_cast<std::int64_t>(6 * block) * slow.ns_per_mib >> 20;
  EXPECT_LT(ring.ns, least_ns * 11 / 10);
  EXPECT_EQ(ring.sizes.offset(ring.schedule->blocks()), 7 * block);
  for (int node = 0; node < 4; ++node) {
    const schedules::BlockSpan own = ring.schedule->own_blocks(node);
    EXPECT_EQ(ring.sizes.offset(own.first), sizes.offset(node));
  }
}

TEST(Choice, UsesForcedAlgorithm) {
  const ForcedAlgorithms forced("bcast:chain,allreduce:halving");
  EXPECT_EQ(forced.for_operation(schedules::Operation::bcast), "chain");
  EXPECT_EQ(forced.for_operation(schedules::Operation::allgather), "");
  Demand demand{schedules::Operation::bcast, 8, 0, 8, 1};
  demand.algorithm = "chain";
  EXPECT_EQ(cheapest(demand, slow).algorithm, "chain");
  // An algorithm that requires equal blocks cannot be forced for others.
  demand = {schedules::Operation::alltoall, 8, 0, 64, 1};
  demand.algorithm = "bruck";
  EXPECT_NE(cheapest(demand, slow).algorithm, "bruck");
  demand.equal_blocks = true;
  EXPECT_EQ(cheapest(demand, slow).algorithm, "bruck");
}

TEST(Choice, PredictsTimeOfRing) {
  EXPECT_EQ(ns_of("allgather:ring", {.ranks = 5}, 100, byte_a_ns), 4 * (1000 + 100));
}

TEST(Choice, SecondDirectionCostsTheMeasuredShare) {
  const schedules::Call call{.ranks = 2};
  const auto exchange =
      schedules::make_schedule(schedules::algorithm_named("allreduce:doubling"), call);
  machine::Machine machine =
      machine::generic_machine(machine::discover_from_synthetic("core:2 pu:1").topology);
  machine.networks.push_back({.name = "one",
                              .curve = {{8, 1 << 20}, {1000, 1000 + (1 << 20)}, {0, 0}},
                              .node_gb_per_s = 1,
                              .both_ways = 1.25,
                              .piece_bytes = 4096});
  const Network network = network_of(machine);
  EXPECT_EQ(network.piece_bytes, 4096);
  EXPECT_EQ(network.second_way_percent, 25);
  const schedules::Sizes sizes = schedules::Sizes::equal(1 << 20);
  const auto one_way_ns = static_cast<double>(network.message_ns + network.ns_per_mib);
  const auto reduce_ns = static_cast<double>(network.combining_ns_per_mib);
  EXPECT_GT(reduce_ns, 0);
  EXPECT_NEAR(static_cast<double>(predicted_ns(*exchange, sizes, network)),
              one_way_ns + static_cast<double>(network.ns_per_mib) / 4 + reduce_ns, 10);
}

// Each sender has 1 GB/s until the card is at its limit, and the card needs time for each message.
TEST(Choice, SeveralSendersShareTheBandwidthOfTheirNode) {
  machine::Machine machine =
      machine::generic_machine(machine::discover_from_synthetic("core:2 pu:1").topology);
  machine.networks.push_back({.name = "one",
                              .curve = {{8, 1 << 20}, {1000, 1000 + (1 << 20)}, {0, 0}},
                              .gap_ns = 100,
                              .node_gb_per_s = 4});
  const Network one = network_of(machine);
  EXPECT_EQ(one.second_way_percent, 0) << "not measured: both directions at once";
  EXPECT_EQ(one.shared_by(1), one);
  EXPECT_EQ(one.shared_by(4).message_ns, one.message_ns + 300);
  EXPECT_EQ(one.shared_by(4).gap_ns, 400) << "the others' messages come between two of one rank";
  EXPECT_EQ(one.shared_by(4).ns_per_mib, one.ns_per_mib);
  EXPECT_EQ(one.shared_by(8).ns_per_mib, 2 << 20);
}

TEST(Choice, DirectAlltoallSendsOneMessagePerRemoteRank) {
  const Network& network = byte_a_ns;
  EXPECT_EQ(direct_alltoall_ns(8, 2, 100, network), 6 * (1000 + 200));
  Network half = network;
  half.second_way_percent = 50;
  EXPECT_EQ(direct_alltoall_ns(8, 2, 100, half), 6 * (1000 + 300));
}

TEST(Choice, UsesGenericFiguresWithoutMeasurements) {
  machine::Machine machine;
  EXPECT_EQ(network_of(machine).is_estimated, 1);
  EXPECT_GT(network_of(machine).message_ns, 0);
  EXPECT_GT(network_of(machine).gap_ns, 0);
  EXPECT_EQ(network_of(machine).second_way_percent, 50) << "as over TCP";
  EXPECT_EQ(network_of(machine).piece_bytes, 0);
  EXPECT_EQ(network_of(machine).node_ns_per_mib, 0) << "nobody knows what several would send";
}

}  // namespace
}  // namespace huddle::internode
