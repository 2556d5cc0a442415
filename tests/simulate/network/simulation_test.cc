// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/network/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "model/fabric/fabric.h"
#include "runtime/schedules/algorithms.h"

namespace huddle::network {
namespace {

const std::string two_levels =
    "schema = 1\nname = \"x\"\n[[level]]\nname = \"leaf\"\nof = 4\n[[level]]\nname = "
    "\"spine\"\nof = 4\nlinks = 1\ngb_per_s = 1\nlatency_ns = 100\norigin = \"estimated\"\n";

// 1,000 ns latency, of which the CPUs are busy for 2 x 200 ns, and 2 bytes per ns.
machine::Network plain_network() {
  return {"test", 1, {{8, 1 << 30}, {1004, 1000 + (1 << 29)}, {}}, 0, 2, machine::Origin::estimated,
          200};
}

fabric::Cluster cluster_with(const machine::Network& network) {
  const std::string machine = HUDDLE_SOURCE_DIR "/machines/deepcomp-6800.toml";
  static const fabric::Cluster base =
      fabric::load_cluster(HUDDLE_SOURCE_DIR "/machines/fabrics/deepcomp-6800-qsnet.toml", machine);
  fabric::Cluster cluster = base;
  cluster.fabric = fabric::parse_fabric(two_levels, "x");
  cluster.network = network;
  return cluster;
}

std::vector<int> in_order(int ranks) {
  std::vector<int> nodes(static_cast<std::size_t>(ranks));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

Outcome of(const fabric::Cluster& cluster, const std::vector<Traffic>& rounds, int ranks = 16) {
  Simulation simulation(cluster, in_order(ranks));
  for (const Traffic& round : rounds) simulation.run(simulation.share_out(round));
  return simulation.outcome();
}

double ns_of(const fabric::Cluster& cluster, const std::vector<Traffic>& rounds) {
  return of(cluster, rounds).end.ns;
}

double part(const Outcome& outcome, Cause cause) {
  return outcome.end.by_cause[static_cast<std::size_t>(cause)];
}

TEST(Simulation, SingleMessageTakesLatencyPlusTransfer) {
  const fabric::Cluster cluster = cluster_with(plain_network());
  EXPECT_DOUBLE_EQ(ns_of(cluster, {{{{0, 1, 0}}, {}}}), 1000);
  EXPECT_DOUBLE_EQ(ns_of(cluster, {{{{0, 1, 4000}}, {}}}), 1000 + 4000 / 2.0);
  // Two more links, one with half the bandwidth, and two more switches.
  EXPECT_DOUBLE_EQ(ns_of(cluster, {{{{0, 5, 4000}}, {}}}), 1000 + 200 + 4000 / 1.0);
}

TEST(Simulation, AttributesTimeToCauses) {
  const Outcome outcome = of(cluster_with(plain_network()), {{{{0, 4, 1000}, {1, 5, 1000}}, {}}});
  EXPECT_DOUBLE_EQ(part(outcome, Cause::processor), 400);
  EXPECT_DOUBLE_EQ(part(outcome, Cause::latency), 600 + 200);
  EXPECT_DOUBLE_EQ(part(outcome, Cause::wire), 1000);
  EXPECT_DOUBLE_EQ(part(outcome, Cause::sharing), 1000) << "two on one link upwards";
  EXPECT_DOUBLE_EQ(std::accumulate(outcome.end.by_cause.begin(), outcome.end.by_cause.end(), 0.0),
                   outcome.end.ns);
  EXPECT_EQ(outcome.fullest_link, "leaf 0 up");
  EXPECT_EQ(outcome.fullest_link_bytes, 2000);
  EXPECT_EQ(outcome.by_height[1].messages, 2);
  EXPECT_EQ(outcome.by_height[0].messages, 0);
}

TEST(Simulation, CpuHandlesMessagesOneByOne) {
  const fabric::Cluster cluster = cluster_with(plain_network());
  EXPECT_DOUBLE_EQ(ns_of(cluster, {{{{0, 1, 0}, {0, 2, 0}, {0, 3, 0}}, {}}}), 1000 + 2 * 200)
      << "posted in turn";
  EXPECT_DOUBLE_EQ(ns_of(cluster, {{{{0, 3, 0}, {1, 3, 0}, {2, 3, 0}}, {}}}), 1000 + 2 * 200)
      << "taken in turn";
}

TEST(Simulation, CardsRequireGapBetweenMessages) {
  machine::Network network = plain_network();
  network.gap_ns = 500;
  const Traffic three{{{0, 1, 0}, {0, 2, 0}, {0, 3, 0}}, {}};
  EXPECT_DOUBLE_EQ(ns_of(cluster_with(network), {three}), 1000 + 2 * 500);
  network.rails = 2;
  EXPECT_DOUBLE_EQ(ns_of(cluster_with(network), {three}), 1000 + 500) << "the third waits";
}

// 4,000 bytes take 2,000 ns in one direction.
TEST(Simulation, BothDirectionsCostTheMeasuredFactor) {
  const Traffic one_way{{{0, 1, 4000}}, {}};
  const Traffic pairs{{{0, 1, 4000}, {1, 0, 4000}}, {}};
  const Traffic ring{{{0, 1, 4000}, {1, 2, 4000}, {2, 0, 4000}}, {}};
  const Traffic uneven{{{0, 1, 4000}, {1, 0, 2000}}, {}};
  machine::Network network = plain_network();
  EXPECT_DOUBLE_EQ(ns_of(cluster_with(network), {pairs}), 1000 + 2000) << "not measured: at once";
  network.both_ways = 1.25;
  const fabric::Cluster cluster = cluster_with(network);
  EXPECT_DOUBLE_EQ(ns_of(cluster, {one_way}), 1000 + 2000);
  EXPECT_DOUBLE_EQ(ns_of(cluster, {pairs}), 1000 + 1.25 * 2000);
  EXPECT_DOUBLE_EQ(ns_of(cluster, {ring}), 1000 + 1.25 * 2000) << "as in pairs";
  EXPECT_DOUBLE_EQ(ns_of(cluster, {uneven}), 1000 + 2000 + 0.25 * 1000);
}

// Rank 1 is busy with a long message from rank 2. An eager message waits for it; for a long message
// its sender waits.
TEST(Simulation, LongMessagesUseRendezvous) {
  machine::Network network = plain_network();
  const Traffic busy{{{2, 1, 20000}}, {}};
  const Traffic late{{{0, 1, 2000}}, {}};
  network.rendezvous_bytes = 2000;
  const fabric::Cluster with_rendezvous = cluster_with(network);
  Simulation meeting(with_rendezvous, in_order(16));
  const fabric::Cluster without = cluster_with(plain_network());
  Simulation plain(without, in_order(16));
  for (Simulation* simulation : {&meeting, &plain}) {
    simulation->run(simulation->share_out(busy));
    simulation->run(simulation->share_out(late));
  }
  EXPECT_DOUBLE_EQ(plain.clock(0).ns, 200) << "sent and forgotten";
  EXPECT_DOUBLE_EQ(plain.clock(1).ns, 11000 + 200);
  EXPECT_DOUBLE_EQ(meeting.clock(1).ns, 11000 + 600 + 1000 + 200);
  EXPECT_DOUBLE_EQ(meeting.clock(0).ns, 11000 + 600 + 1000);
}

TEST(Simulation, RanksWaitOnlyForTheirSenders) {
  const fabric::Cluster cluster = cluster_with(plain_network());
  Simulation simulation(cluster, in_order(16));
  simulation.run(simulation.share_out({{{0, 1, 0}, {2, 3, 100000}}, {}}));
  simulation.run(simulation.share_out({{{1, 0, 0}, {3, 2, 0}}, {}}));
  EXPECT_DOUBLE_EQ(simulation.clock(0).ns, 2000);
  EXPECT_DOUBLE_EQ(simulation.clock(2).ns, 2000 + 50000);
}

Traffic any_traffic() {
  Traffic traffic;
  for (int rank = 0; rank < 16; ++rank) {
    const int sends = *rc::gen::inRange(0, 4);
    const int first = *rc::gen::inRange(1, 12);
    for (int i = 0; i < sends; ++i) {
      traffic.messages.push_back(
          {rank, (rank + first + i) % 16, static_cast<double>(*rc::gen::inRange(0, 5000))});
    }
  }
  return traffic;
}

RC_GTEST_PROP(SimulationProperty, CountsEveryByteOnce, ()) {
  const Traffic traffic = any_traffic();
  const Outcome outcome = of(cluster_with(plain_network()), {traffic, traffic});
  double bytes = 0;
  for (const Sent& sent : traffic.messages) bytes += 2 * sent.bytes;
  RC_ASSERT(outcome.bytes == bytes);
  RC_ASSERT(outcome.messages == 2.0 * static_cast<double>(traffic.messages.size()));
}

// All messages have the same size, as in collectives.
RC_GTEST_PROP(SimulationProperty, MoreBytesAreNeverFaster, ()) {
  const fabric::Cluster cluster = cluster_with(plain_network());
  std::vector<Traffic> rounds = {any_traffic(), any_traffic(), any_traffic()};
  double last_ns = 0;
  for (const double bytes : {0.0, 1.0, 100.0, 1000.0, 10000.0}) {
    for (Traffic& round : rounds) {
      for (Sent& sent : round.messages) sent.bytes = bytes;
    }
    const double ns = ns_of(cluster, rounds);
    RC_ASSERT(ns >= last_ns);
    last_ns = ns;
  }
}

RC_GTEST_PROP(SimulationProperty, IsDeterministic, ()) {
  const fabric::Cluster cluster = cluster_with(plain_network());
  const std::vector<Traffic> rounds = {any_traffic(), any_traffic()};
  RC_ASSERT(ns_of(cluster, rounds) == ns_of(cluster, rounds));
}

// Compares a simulation that reuses repeated rounds with one that computes each round.
TEST(Simulate, RepeatedRoundsGiveTheSameResult) {
  const fabric::Cluster cluster = cluster_with(plain_network());
  for (const char* name : {"allgather:ring", "allgather:neighbor"}) {
    for (const int ranks : {2, 7, 8, 15, 16}) {
      schedules::Call call;
      call.ranks = ranks;
      const auto schedule = schedules::make_schedule(schedules::algorithm_named(name), call);
      std::vector<Traffic> rounds;
      for (std::int64_t number = 0; number < schedule->rounds(); ++number) {
        rounds.push_back(traffic_of(*schedule, number, 3000));
      }
      const Outcome anew = of(cluster, rounds, ranks);
      const Outcome again = simulate(cluster, in_order(ranks), *schedule, 3000);
      EXPECT_DOUBLE_EQ(again.end.ns, anew.end.ns) << name << " " << ranks;
      EXPECT_EQ(again.fullest_link_bytes, anew.fullest_link_bytes);
      EXPECT_EQ(again.bytes, 3000.0 * ranks * (ranks - 1));
    }
  }
}

}  // namespace
}  // namespace huddle::network
