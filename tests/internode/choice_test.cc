// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "internode/choice.h"

#include <gtest/gtest.h>

#include <vector>

#include "machine/discover.h"
#include "machine/locate.h"

namespace huddle::internode {
namespace {

// 100 Mbit/s, 50 us.
constexpr Network slow = {50'000, 84'000'000, 0};

Chosen chosen(net::Operation operation, int nodes, std::size_t bytes, const Network& network) {
  const net::Sizes sizes =
      net::Sizes::listed(std::vector<std::size_t>(static_cast<std::size_t>(nodes), bytes));
  Demand demand{operation, nodes, 0, bytes, 1};
  if (operation == net::Operation::allgather) demand.blocks = &sizes;
  return cheapest(demand, network);
}

TEST(Choice, TakesFewRoundsForLittleAndFewBytesForMuch) {
  EXPECT_EQ(chosen(net::Operation::allreduce, 8, 8, slow).algorithm, "doubling");
  EXPECT_NE(chosen(net::Operation::allreduce, 8, 1 << 20, slow).algorithm, "doubling");
  EXPECT_EQ(chosen(net::Operation::bcast, 8, 8, slow).algorithm, "knomial");
  EXPECT_NE(chosen(net::Operation::bcast, 8, 1 << 20, slow).algorithm, "knomial");
}

// Two that send to each other at the same time may find that the wire has one direction.
TEST(Choice, TakesARingForMuchRatherThanExchanges) {
  EXPECT_EQ(chosen(net::Operation::allgather, 4, 1 << 18, slow).algorithm, "ring");
  EXPECT_EQ(chosen(net::Operation::allreduce, 4, 1 << 20, slow).algorithm, "slices");
}

TEST(Choice, CountsHalfOfTheSecondWayOfAnExchange) {
  const net::Call call{.ranks = 2};
  const auto doubling = net::make_schedule(net::algorithm_named("allreduce:doubling"), call);
  const Network network{1000, std::int64_t{1} << 20, 0};  // a byte a nanosecond
  EXPECT_EQ(predicted_ns(*doubling, net::Sizes::cut(100, 1, 1), network), 1000 + 150);
}

// A float's bits must not depend on what was chosen.
TEST(Choice, NeverTakesWhatJoinsInAnyOrder) {
  for (int nodes = 1; nodes <= 20; ++nodes) {
    for (std::size_t bytes = 1; bytes <= std::size_t{1} << 26; bytes *= 8) {
      EXPECT_NE(chosen(net::Operation::allreduce, nodes, bytes, slow).algorithm, "ring");
    }
  }
}

// Nodes of 3, 1, 2 and 1 ranks: the least that the node with one can take is its 6 foreign blocks.
TEST(Choice, CutsUnevenBlocksSoThatTheLargestHoldsNobodyUp) {
  const std::size_t block = std::size_t{150} << 10;
  const net::Sizes sizes =
      net::Sizes::listed(std::vector<std::size_t>{3 * block, block, 2 * block, block});
  const Chosen ring = cheapest({net::Operation::allgather, 4, 0, 7 * block, 1, &sizes}, slow);
  EXPECT_EQ(ring.algorithm, "ring");
  const std::int64_t least_ns = static_cast<std::int64_t>(6 * block) * slow.ns_per_mib >> 20;
  EXPECT_LT(ring.ns, least_ns * 11 / 10);
  EXPECT_EQ(ring.sizes.offset(ring.schedule->blocks()), 7 * block);
  for (int node = 0; node < 4; ++node) {
    const net::BlockSpan own = ring.schedule->own_blocks(node);
    EXPECT_EQ(ring.sizes.offset(own.first), sizes.offset(node));
  }
}

TEST(Choice, TakesWhatIsForced) {
  const ForcedAlgorithms forced("bcast:chain,allreduce:halving");
  EXPECT_EQ(forced.for_operation(net::Operation::bcast), "chain");
  EXPECT_EQ(forced.for_operation(net::Operation::allgather), "");
  Demand demand{net::Operation::bcast, 8, 0, 8, 1};
  demand.algorithm = "chain";
  EXPECT_EQ(cheapest(demand, slow).algorithm, "chain");
  // One that has to have blocks of one size, with others.
  demand = {net::Operation::alltoall, 8, 0, 64, 1};
  demand.algorithm = "bruck";
  EXPECT_NE(cheapest(demand, slow).algorithm, "bruck");
  demand.equal_blocks = true;
  EXPECT_EQ(cheapest(demand, slow).algorithm, "bruck");
}

TEST(Choice, PredictsWhatARingTakes) {
  const net::Call call{.ranks = 5};
  const auto ring = net::make_schedule(net::algorithm_named("allgather:ring"), call);
  const Network network{1000, std::int64_t{1} << 20, 0};  // a byte a nanosecond
  EXPECT_EQ(predicted_ns(*ring, net::Sizes::equal(100), network), 4 * (1000 + 100));
}

TEST(Choice, CountsOfTheSecondWayOfAnExchangeWhatWasMeasured) {
  const net::Call call{.ranks = 2};
  const auto exchange = net::make_schedule(net::algorithm_named("allreduce:doubling"), call);
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
  const net::Sizes sizes = net::Sizes::equal(1 << 20);
  const auto one_way_ns = static_cast<double>(network.message_ns + network.ns_per_mib);
  const auto join_ns = static_cast<double>(network.joining_ns_per_mib);
  EXPECT_GT(join_ns, 0);
  EXPECT_NEAR(static_cast<double>(predicted_ns(*exchange, sizes, network)),
              one_way_ns + static_cast<double>(network.ns_per_mib) / 4 + join_ns, 10);
}

// Of 1 GB/s each, until the card carries no more, which takes a while for each message.
TEST(Choice, SeveralSendersShareWhatTheirNodeCarries) {
  machine::Machine machine =
      machine::generic_machine(machine::discover_from_synthetic("core:2 pu:1").topology);
  machine.networks.push_back({.name = "one",
                              .curve = {{8, 1 << 20}, {1000, 1000 + (1 << 20)}, {0, 0}},
                              .gap_ns = 100,
                              .node_gb_per_s = 4});
  const Network one = network_of(machine);
  EXPECT_EQ(one.shared_by(1), one);
  EXPECT_EQ(one.shared_by(4).message_ns, one.message_ns + 300);
  EXPECT_EQ(one.shared_by(4).ns_per_mib, one.ns_per_mib);
  EXPECT_EQ(one.shared_by(8).ns_per_mib, 2 << 20);
}

TEST(Choice, AnAlltoallWithoutNodesSendsAMessageToEachRankElsewhere) {
  const Network network{1000, std::int64_t{1} << 20, 0};  // a byte a nanosecond
  EXPECT_EQ(direct_alltoall_ns(8, 2, 100, network), 6 * (1000 + 200));
}

TEST(Choice, ReckonsWithRoundFiguresWhereNothingWasMeasured) {
  machine::Machine machine;
  EXPECT_EQ(network_of(machine).is_estimated, 1);
  EXPECT_GT(network_of(machine).message_ns, 0);
  EXPECT_EQ(network_of(machine).second_way_percent, 50);
  EXPECT_EQ(network_of(machine).piece_bytes, 0);
  EXPECT_EQ(network_of(machine).node_ns_per_mib, 0) << "nobody knows what several would send";
}

}  // namespace
}  // namespace huddle::internode
