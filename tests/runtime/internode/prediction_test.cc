// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/prediction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/machine/machine.h"

namespace huddle::internode {
namespace {

using select::Operation;

// 1 us per message, 1 ns per byte.
constexpr Network network = {1000, std::int64_t{1} << 20, 0};
const NodeMap blocks(std::vector<std::uint64_t>{1, 1, 2, 2, 3, 3, 4, 4});
const NodeMap in_turns(std::vector<std::uint64_t>{1, 2, 3, 4, 1, 2, 3, 4});
const NodeMap uneven(std::vector<std::uint64_t>{1, 1, 1, 2, 3, 3, 4});

// `factor` ns per byte, and nothing per message.
NodeTimes by_bytes(std::int64_t factor = 1) {
  return NodeTimes::of([factor](const select::Request& part) {
    return factor * static_cast<std::int64_t>(part.bytes);
  });
}

TEST(NodeTimes, AreInterpolatedBetweenSizes) {
  EXPECT_EQ(by_bytes().ns_at(Operation::bcast, 1000), 1000);
  EXPECT_EQ(by_bytes().ns_at(Operation::gather, std::size_t{1} << 30), 1 << 30);
  EXPECT_EQ(by_bytes().ns_at(Operation::reduce, 0), 64);
}

TEST(NodeTimes, AreThoseOfTheSlowestNode) {
  NodeTimes times = by_bytes();
  times.become_slower_of(by_bytes(3));
  times.become_slower_of(by_bytes(2));
  EXPECT_EQ(times.ns_at(Operation::scatter, 1000), 3000);
}

// The two phases of a barrier take these times, everything else takes none.
NodeTimes of_barrier(std::int64_t gather_ns, std::int64_t release_ns) {
  return NodeTimes::of([=](const select::Request& part) -> std::int64_t {
    switch (part.barrier_phase) {
      case select::BarrierPhase::both:
        return 0;
      case select::BarrierPhase::gather:
        return gather_ns;
      case select::BarrierPhase::release:
        return release_ns;
    }
    return 0;
  });
}

TEST(NodeTimes, BarrierPhasesUseTheirSlowestNode) {
  NodeTimes times = of_barrier(300, 20);
  times.become_slower_of(of_barrier(100, 50));
  EXPECT_EQ(times.barrier_ns(select::BarrierPhase::gather), 300);
  EXPECT_EQ(times.barrier_ns(select::BarrierPhase::release), 50);
  EXPECT_EQ(times.barrier_ns(select::BarrierPhase::both), 350);
}

TEST(MpiTimes, AreSelectedByMpiAndPlacement) {
  machine::Machine machine;
  machine.mpi_collectives = {
      {"An MPI 1", "allreduce", 4, 8, true, {{8, 1024}, {100, 1124}, {}}},
      {"An MPI 1", "allreduce", 4, 8, false, {{8, 1024}, {200, 1216}, {}}},
      {"An MPI 2", "bcast", 4, 8, true, {{8}, {300}, {}}},
      {"An MPI 1", "bcast", 4, 7, true, {{8}, {400}, {}}},
  };
  const MpiTimes times(machine, "An MPI 1", blocks);
  EXPECT_EQ(times.ns_at(Operation::allreduce, 0), 100);
  EXPECT_EQ(times.ns_at(Operation::allreduce, 8), 100);
  EXPECT_EQ(times.ns_at(Operation::allreduce, 516), 612);
  EXPECT_EQ(times.ns_at(Operation::allreduce, 1025), std::nullopt);
  EXPECT_EQ(times.ns_at(Operation::bcast, 8), std::nullopt);
  EXPECT_EQ(MpiTimes(machine, "An MPI 1", in_turns).ns_at(Operation::allreduce, 8), 200);
  EXPECT_EQ(MpiTimes(machine, "An MPI 2", blocks).ns_at(Operation::bcast, 8), 300);
  EXPECT_EQ(MpiTimes(machine, "An MPI 1", uneven).ns_at(Operation::bcast, 8), 400);
}

// Machine files can contain times of exactly the operations that use schedules.
TEST(MpiTimes, HaveNamesForAllScheduledOperations) {
  std::vector<std::string_view> going;
  for (const Operation operation : select::operations) {
    if (way_between_nodes(operation) == Way::schedule) going.push_back(select::name(operation));
  }
  EXPECT_EQ(going, std::vector<std::string_view>(machine::collective_names.begin(),
                                                 machine::collective_names.end()));
}

TEST(Prediction, ConsistsOfThreeParts) {
  const Prediction allreduce = predict(Operation::allreduce, 1024, blocks, network, by_bytes());
  ASSERT_TRUE(allreduce.before && allreduce.after);
  EXPECT_EQ(allreduce.before->operation, Operation::reduce);
  EXPECT_EQ(allreduce.after->operation, Operation::bcast);
  EXPECT_EQ(allreduce.ns(), 1024 + allreduce.between.ns + 1024);
  const Prediction allgather = predict(Operation::allgather, 1024, blocks, network, by_bytes());
  EXPECT_EQ(allgather.before->bytes, 1024U);
  EXPECT_EQ(allgather.after->bytes, 8 * 1024U);
  EXPECT_FALSE(predict(Operation::bcast, 1024, blocks, network, by_bytes()).before);
  EXPECT_FALSE(predict(Operation::gather, 1024, blocks, network, by_bytes()).after);
}

TEST(Prediction, BarrierCostsBothPhasesAndTheExchange) {
  const Prediction barrier = predict(Operation::barrier, 0, blocks, network, of_barrier(300, 50));
  ASSERT_TRUE(barrier.before && barrier.after);
  EXPECT_EQ(barrier.before->barrier_phase, select::BarrierPhase::gather);
  EXPECT_EQ(barrier.after->barrier_phase, select::BarrierPhase::release);
  EXPECT_EQ(barrier.ns(), 300 + barrier.between.ns + 50);
}

TEST(Prediction, ExistsForAllScheduledOperations) {
  for (const NodeMap* map : {&blocks, &in_turns, &uneven}) {
    for (const Operation operation : select::operations) {
      if (way_between_nodes(operation) != Way::schedule) continue;
      const Prediction prediction = predict(operation, 8, *map, network, by_bytes());
      ASSERT_NE(prediction.between.schedule, nullptr) << select::name(operation);
      EXPECT_GE(prediction.ns(), network.message_ns) << select::name(operation);
    }
  }
}

TEST(Prediction, CallsWithoutGainFallBackToTheMpi) {
  const NodeMap pair(std::vector<std::uint64_t>{1, 2});
  EXPECT_FALSE(unmeasured_fallback_reason(Operation::bcast, 8, pair, network).empty());
  EXPECT_TRUE(unmeasured_fallback_reason(Operation::bcast, 8, blocks, network).empty());
  EXPECT_TRUE(unmeasured_fallback_reason(Operation::alltoall, 8, blocks, network).empty());
  EXPECT_FALSE(
      unmeasured_fallback_reason(Operation::alltoall, std::size_t{1} << 30, blocks, network)
          .empty());
}

// The same network, of which a single rank uses only a quarter.
Network of_four_senders(std::int64_t gap_ns) {
  Network of_four = network;
  of_four.gap_ns = gap_ns;
  of_four.node_ns_per_mib = network.ns_per_mib / 4;
  return of_four;
}
const NodeMap four_each(std::vector<std::uint64_t>{1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3});

TEST(Prediction, UsesTheFastestNumberOfLeaders) {
  constexpr std::size_t bytes = 1 << 20;
  // The parts in the nodes take almost no time.
  const NodeTimes nothing;
  for (const Operation operation : {Operation::allreduce, Operation::bcast}) {
    const auto leaders = [&](const NodeMap& map, const Network& by, std::size_t of) {
      return predict(operation, of, map, by, nothing).sharing.leaders;
    };
    EXPECT_EQ(leaders(four_each, of_four_senders(10), bytes), 4);
    EXPECT_EQ(leaders(blocks, of_four_senders(10), bytes), 2) << "nodes have no more ranks";
    EXPECT_EQ(leaders(uneven, of_four_senders(10), bytes), 1) << "a node has one rank";
    EXPECT_EQ(leaders(four_each, of_four_senders(10), 8), 1) << "messages take the longer";
    EXPECT_EQ(leaders(four_each, of_four_senders(0), 0), 1) << "of equals the fewest";
    EXPECT_EQ(leaders(four_each, network, bytes), 1) << "nobody knows what all send together";
  }
  EXPECT_EQ(predict(Operation::allreduce, bytes, four_each, of_four_senders(1'000'000), nothing)
                .sharing.leaders,
            1)
      << "a card begins messages one after the other";
}

TEST(Prediction, UsesOneLeaderIfGainIsBelowModelError) {
  const auto leaders = [](std::int64_t gain_percent) {
    Network by = network;
    by.node_ns_per_mib = network.ns_per_mib * (100 - gain_percent) / 100;
    return predict(Operation::allreduce, 16 << 20, four_each, by, NodeTimes()).sharing.leaders;
  };
  EXPECT_EQ(leaders(5), 1);
  EXPECT_GT(leaders(20), 1);
}

// The parts in the nodes that several leaders require take time as well.
TEST(Prediction, IncludesNodePartsOfSeveralLeaders) {
  constexpr std::size_t bytes = 1 << 20;
  const Network by = of_four_senders(0);
  EXPECT_EQ(predict(Operation::allreduce, bytes, four_each, by, by_bytes(100)).sharing.leaders, 4);
  const Prediction four =
      predict(Operation::allreduce, bytes, four_each, by, by_bytes(), Sharing{4});
  ASSERT_TRUE(four.before && four.after);
  EXPECT_EQ(four.before->operation, Operation::reduce_scatter);
  // The largest node has five ranks, but its leaders' slices are still a quarter of the data.
  EXPECT_EQ(four.before->ns, 5 * (bytes / 4));
  EXPECT_EQ(four.after->operation, Operation::allgatherv);
  EXPECT_EQ(four.ns(), four.before->ns + four.between.ns + four.after->ns);
  const Prediction bcast = predict(Operation::bcast, bytes, four_each, by, by_bytes(), Sharing{4});
  EXPECT_EQ(bcast.before->operation, Operation::scatter);
  EXPECT_EQ(bcast.after->ns, bytes) << "the root's node has it from the root";
}

// While one segment is sent between nodes, the nodes work on others: the slower part determines the
// time.
TEST(Prediction, UsesSegmentsIfNodesHaveWorkToOverlap) {
  constexpr std::size_t bytes = 1 << 20;
  const Network by = of_four_senders(0);
  const Prediction whole = predict(Operation::allreduce, bytes, blocks, by, by_bytes(), {1, 1});
  const Prediction quarters = predict(Operation::allreduce, bytes, blocks, by, by_bytes(), {1, 4});
  EXPECT_EQ(quarters.before->bytes, bytes / 4);
  const std::int64_t in_node_ns = quarters.before->ns + quarters.after->ns;
  EXPECT_EQ(quarters.ns(),
            in_node_ns + quarters.between.ns + 3 * std::max(in_node_ns, quarters.between.ns));
  EXPECT_LT(quarters.ns(), whole.ns());
  EXPECT_GE(predict(Operation::allreduce, bytes, blocks, by, by_bytes()).sharing.segments, 4);
  // There is no work to overlap, or no time to hide it behind.
  EXPECT_EQ(predict(Operation::allreduce, bytes, blocks, by, NodeTimes()).sharing.segments, 1);
  EXPECT_EQ(predict(Operation::allreduce, 8, blocks, by, by_bytes()).sharing.segments, 1);
  EXPECT_EQ(predict(Operation::gather, bytes, blocks, by, by_bytes()).sharing.segments, 1);
}

// The node has to wait while its leader reduces.
TEST(Prediction, ReductionsOfLeadersCountAsNodeTime) {
  Network combining = of_four_senders(0);
  combining.combining_ns_per_mib = std::int64_t{1} << 40;
  const Prediction two =
      predict(Operation::allreduce, 1 << 20, blocks, combining, by_bytes(), {1, 2});
  EXPECT_GT(two.joining_ns, std::int64_t{1} << 38);
  EXPECT_GE(two.ns(), 2 * two.joining_ns + two.before->ns + two.after->ns);
}

TEST(Prediction, SeveralLeadersSendAsManyBytesAsOne) {
  constexpr std::size_t bytes = 1 << 20;
  for (const Operation operation : {Operation::allreduce, Operation::bcast}) {
    const auto sent = [&](int leaders) {
      return sent_by(predict(operation, bytes, four_each, of_four_senders(0), by_bytes(),
                             Sharing{leaders}))
          .bytes;
    };
    EXPECT_EQ(sent(4), sent(1));
  }
}

// Each node receives each block of another node once.
TEST(Prediction, SentByCountsMessagesAndBytes) {
  const Prediction allgather = predict(Operation::allgather, 1000, uneven, network, by_bytes());
  EXPECT_EQ(sent_by(allgather).bytes, (4 - 1) * 7 * 1000);
  const Prediction barrier = predict(Operation::barrier, 0, blocks, network, by_bytes());
  EXPECT_EQ(sent_by(barrier).bytes, 0);
  // A single round in which each node sends to each other node: no latency is paid twice.
  EXPECT_EQ(sent_by(barrier).messages, 4 * 3);
}

}  // namespace
}  // namespace huddle::internode
