// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/agent.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "common/arithmetic.h"
#include "scene.h"

namespace huddle::threads {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;

class AgentTest : public ::testing::Test {
 protected:
  std::vector<Decision> decisions(const Events& events, AgentOptions options = {}) const {
    Agent agent(model_, machine_.topology.pus, options);
    return replay(events, agent);
  }
  static std::vector<Reason> reasons(const std::vector<Decision>& decisions) {
    std::vector<Reason> all;
    for (const Decision& one : decisions) all.push_back(one.reason);
    return all;
  }
  static int moves(const std::vector<Decision>& decisions) {
    const std::vector<Reason> all = reasons(decisions);
    return static_cast<int>(std::count(all.begin(), all.end(), Reason::move));
  }

  machine::Machine machine_ = machine_of("xeon-e7-8850-8s");
  machine::CostModel model_{machine_};
};

// One thread per socket; partners are four sockets apart.
std::vector<int> one_a_socket() { return {0, 10, 20, 30, 40, 50, 60, 70}; }

TEST_F(AgentTest, ReusedThreadNumberInheritsNoCounts) {
  Program program(3, 1);
  Events events;
  program.run(events, {{0, 1}, {1, 2}}, 1000);
  Agent agent(model_, machine_.topology.pus, {});
  replay(events, agent);
  const double others = agent.whole().at(0, 1);
  EXPECT_GT(agent.whole().at(1, 2), 0);
  Look look = std::get<Look>(events.back());
  look.time_ns += 1'000'000'000;
  look.reused = {2};
  agent.take(look);
  EXPECT_EQ(agent.whole().at(1, 2), 0);
  EXPECT_EQ(agent.recent().at(1, 2), 0);
  EXPECT_EQ(agent.whole().at(0, 1), others);
}

TEST(Agent, MovesPairsTogetherWhenSeenTwice) {
  const machine::Machine machine = machine_of("xeon-e5620-2s");  // two sockets of four
  const machine::CostModel model(machine);
  Program program(8, 1);
  Events events;
  program.run(events, far_pairs(8), 3000);
  Agent agent(model, machine.topology.pus, {});
  const std::vector<Decision> all = replay(events, agent);
  ASSERT_GE(all.size(), 3U);
  EXPECT_EQ(all[0].reason, Reason::seen_once);
  EXPECT_EQ(all[1].reason, Reason::move);
  for (const auto& [a, b] : far_pairs(8)) {
    EXPECT_EQ(all[1].wanted[at(a)] / 4, all[1].wanted[at(b)] / 4) << "not on one socket";
  }
  EXPECT_GT(all[1].gain_s, all[1].cost_s);
  EXPECT_GT(all[1].saved, 0.5);
  // Then the placement stays.
  for (std::size_t i = 2; i < all.size(); ++i) EXPECT_EQ(all[i].reason, Reason::best_already);
  EXPECT_THAT(text_of(all[1]), HasSubstr("confirmed by two decisions"));
}

// Returns the number of threads in each group of a level after a decision.
std::vector<int> threads_per_group(const machine::Topology& topology, std::string_view level,
                                   const std::vector<int>& processors) {
  std::vector<int> counts;
  for (const machine::CpuSet& group : find_level(topology, level)->groups) {
    counts.push_back(static_cast<int>(
        std::count_if(processors.begin(), processors.end(),
                      [&group](int processor) { return group.contains(processor); })));
  }
  return counts;
}

TEST_F(AgentTest, ThreadsAreNotConcentratedOnFewerNumaNodes) {
  Program program(8, 1);
  program.assignments = one_a_socket();
  Events events;
  program.run(events, far_pairs(8), 3000);
  for (const Decision& one : decisions(events)) {
    EXPECT_THAT(threads_per_group(machine_.topology, "package", one.wanted), Each(1))
        << text_of(one);
  }
  const std::vector<Decision> all = decisions(events, {.memory = Memory::ignored});
  EXPECT_THAT(threads_per_group(machine_.topology, "package", all.front().wanted),
              ::testing::Contains(8));
}

Pairs ring_of(int threads) {
  Pairs ring;
  for (int t = 0; t < threads; ++t) ring.emplace_back(t, (t + 1) % threads);
  return ring;
}

class EpycAgentTest : public ::testing::Test {
 protected:
  // Returns the decisions for a program whose threads run on `seats`.
  // `bytes_per_s`: memory traffic of each thread; 0 if it cannot be counted.
  std::vector<Decision> decisions(const std::vector<int>& assignments, const Pairs& pairs,
                                  double bytes_per_s = 0) const {
    Program program(static_cast<int>(assignments.size()), 1);
    program.assignments = assignments;
    if (bytes_per_s > 0) program.bytes_per_s.assign(assignments.size(), bytes_per_s);
    Events events;
    program.run(events, pairs, 3000);
    Agent agent(model_, machine_.topology.pus, {});
    return replay(events, agent);
  }

  machine::Machine machine_ = machine_of("epyc-2x64-estimate");
  machine::CostModel model_{machine_};
};

// According to the file's curves, eight copiers in one L3 take 1.8 times as long as in two.
TEST_F(EpycAgentTest, ThreadsAreNotConcentratedInOneCache) {
  const std::vector<Decision> all = decisions({0, 8, 1, 9, 2, 10, 3, 11}, ring_of(8));
  ASSERT_EQ(all[1].reason, Reason::move) << text_of(all[1]);
  const std::vector<int> per_cache = threads_per_group(machine_.topology, "l3", all[1].wanted);
  EXPECT_EQ(per_cache[0], 4);
  EXPECT_EQ(per_cache[1], 4);
}

TEST_F(EpycAgentTest, ReasonForStayingContainsMemory) {
  const std::vector<Decision> nodes = decisions({0, 16}, {{0, 1}});
  EXPECT_THAT(nodes, Each(Field(&Decision::reason, Reason::less_memory)));
  EXPECT_THAT(text_of(nodes.front()), HasSubstr("limit them to 1 of the 2 NUMA nodes"));
  const std::vector<Decision> caches = decisions({0, 1, 2, 3, 8, 9, 10, 11}, ring_of(8));
  EXPECT_THAT(caches, Each(Field(&Decision::reason, Reason::less_memory)));
  EXPECT_THAT(text_of(caches.front()), HasSubstr("limit them to 23.2 of 27.9 GB/s"));
}

// Eight threads under one L3 cache get at most 46 GB/s together, and one alone gets 26.
TEST_F(EpycAgentTest, StreamingThreadsOfOneCacheAreSpread) {
  const std::vector<int> packed = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<Decision> all = decisions(packed, {}, 5.8e9);
  ASSERT_EQ(all[0].reason, Reason::seen_once) << text_of(all[0]);
  ASSERT_EQ(all[1].reason, Reason::move) << text_of(all[1]);
  EXPECT_THAT(threads_per_group(machine_.topology, "l3", all[1].wanted), Each(::testing::Le(1)));
  EXPECT_TRUE(all[1].knows_memory);
  EXPECT_GT(all[1].before.memory_ns, 2 * all[1].after.memory_ns);
  EXPECT_THAT(text_of(all[1]), AllOf(HasSubstr("of the predicted time"), HasSubstr("memory from")));
  EXPECT_EQ(decisions(packed, {})[0].reason, Reason::too_few_touches);
}

// Without copy curves of several cores, traffic predicts nothing.
TEST_F(EpycAgentTest, TrafficNeedsCopyCurves) {
  std::erase_if(machine_.copy, [](const machine::CopyCurve& copy) { return copy.copiers > 1; });
  EXPECT_THAT(decisions({0, 1, 2, 3, 4, 5, 6, 7}, {}, 5.8e9),
              Each(Field(&Decision::reason, Reason::too_few_touches)));
}

TEST_F(EpycAgentTest, LittleTrafficPermitsFewerNumaNodes) {
  const std::vector<Decision> all = decisions({0, 16}, {{0, 1}}, 1e6);
  ASSERT_EQ(all[1].reason, Reason::move) << text_of(all[1]);
  EXPECT_THAT(threads_per_group(machine_.topology, "numa", all[1].wanted), ::testing::Contains(2));
}

TEST_F(EpycAgentTest, StreamingThreadsThatAreSpreadStay) {
  const std::vector<Decision> all = decisions({0, 16, 32, 48, 64, 80, 96, 112}, ring_of(8), 20e9);
  EXPECT_THAT(all, Each(Field(&Decision::reason, Reason::best_already))) << text_of(all[0]);
}

// Moving costs the refill of the caches, which this gain does not repay within ten seconds.
TEST_F(EpycAgentTest, TooSmallGainOfMemoryMovesNothing) {
  const std::vector<Decision> all = decisions({0, 1, 2, 3, 4, 5, 6, 7}, {}, 1e6);
  EXPECT_THAT(all, Each(Field(&Decision::reason, Reason::too_few_touches)));
}

TEST_F(AgentTest, KeepsGoodPlacement) {
  Program program(8, 2);
  Events events;
  program.run(events, near_pairs(8), 2000);
  EXPECT_THAT(reasons(decisions(events)), Each(Reason::best_already));
}

// Two per socket, with partners on other sockets. No socket has room for all of them.
std::vector<int> two_a_socket() {
  return {0, 10, 20, 30, 40, 50, 60, 70, 1, 11, 21, 31, 41, 51, 61, 71};
}
Pairs outside_in(int threads) {
  Pairs pairs;
  for (int t = 0; t < threads / 2; ++t) pairs.emplace_back(t, threads - 1 - t);
  return pairs;
}

TEST_F(AgentTest, FollowsChangedPattern) {
  Program program(16, 3);
  program.assignments = two_a_socket();
  Events events;
  program.run(events, outside_in(16), 4000);
  program.change();
  program.run(events, near_pairs(16), 4000);
  const std::vector<Decision> all = decisions(events);
  ASSERT_EQ(moves(all), 2);
  const auto second = std::find_if(all.rbegin(), all.rend(),
                                   [](const Decision& one) { return one.reason == Reason::move; });
  for (const auto& [a, b] : near_pairs(16)) {
    EXPECT_EQ(second->wanted[at(a)] / 10, second->wanted[at(b)] / 10);
  }
  EXPECT_LT(second->time_ns, 7'000'000'000U);  // three seconds after the change
}

// The faded counts still favour the old placement; the new events must confirm it on their own.
TEST(Agent, EarlierPlacementMustBeConfirmedByNewEvents) {
  const machine::Machine machine = machine_of("xeon-e5620-2s");  // two sockets of four
  const machine::CostModel model(machine);
  Pairs even_and_odd;
  for (const auto& [a, b] : all_pairs(8)) {
    if ((a - b) % 2 == 0) even_and_odd.emplace_back(a, b);
  }
  Program program(8, 13);
  Events events;
  program.run(events, even_and_odd, 200);
  program.change();
  program.run(events, near_pairs(8), 10);
  program.run(events, {}, 190);
  const auto last_reason = [&](const AgentOptions& options) {
    Agent agent(model, machine.topology.pus, options);
    const std::vector<Decision> all = replay(events, agent);
    EXPECT_EQ(all.front().reason, Reason::seen_once);
    return all.back().reason;
  };
  EXPECT_EQ(last_reason({}), Reason::seen_once);
  EXPECT_EQ(last_reason({.least_confirmed = -100}), Reason::move);
}

TEST_F(AgentTest, KeepsPlacementIfAllPairsShareAlike) {
  Program program(8, 4);
  program.assignments = one_a_socket();
  Events events;
  program.run(events, all_pairs(8), 2000);
  EXPECT_THAT(reasons(decisions(events)), Each(Reason::all_alike));
}

TEST_F(AgentTest, KeepsPlacementWithoutSharing) {
  Program program(8, 5);
  Events events;
  program.run(events, {}, 2000);
  EXPECT_THAT(reasons(decisions(events)), Each(Reason::too_few_touches));
}

TEST_F(AgentTest, KeepsPlacementWithOneThreadAtWork) {
  Program program(1, 6);
  Events events;
  program.run(events, {}, 2000);
  EXPECT_THAT(reasons(decisions(events)), Each(Reason::one_thread));
}

TEST_F(AgentTest, KeepsPlacementWithMoreThreadsThanHardwareThreads) {
  Program program(8, 7);
  Events events;
  program.run(events, far_pairs(8), 1000);
  Agent agent(model_, machine::CpuSet({0, 1, 2}), {});
  EXPECT_THAT(reasons(replay(events, agent)), Each(Reason::too_many_threads));
}

// A thread that rarely runs does not affect decisions, whatever it touches.
TEST_F(AgentTest, IgnoresHelperThreads) {
  Program program(8, 8);
  program.assignments = one_a_socket();
  Events events;
  program.run(events, far_pairs(8), 1000);
  for (auto& event : events) {
    if (auto* const look = std::get_if<Look>(&event)) look->threads[7].cpu_ns /= 100;
  }
  EXPECT_THAT(decisions(events),
              Each(Field(&Decision::threads, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6))));
}

TEST_F(AgentTest, SmallGainsCauseNoMove) {
  Program program(8, 9);
  program.assignments = one_a_socket();
  Events events;
  program.run(events, far_pairs(8), 2000);
  AgentOptions options;
  options.must_pay_within_s = 1e-9;
  EXPECT_THAT(reasons(decisions(events, options)), Each(Reason::too_little_gain));
}

// The interval grows while nothing changes, and stays within its bounds.
TEST_F(AgentTest, DecidesLessOftenWhileNothingChanges) {
  Program program(8, 10);
  Events events;
  program.run(events, near_pairs(8), 20'000);
  const std::vector<Decision> all = decisions(events);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    EXPECT_LE(all[i].interval_ms, all[i + 1].interval_ms);
  }
  EXPECT_EQ(all.front().interval_ms, 200);
  EXPECT_EQ(all.back().interval_ms, 1000);
}

// A pattern that changes before it was seen twice causes no move.
TEST_F(AgentTest, IgnoresPatternThatChangesTooFast) {
  Program program(16, 11);
  program.assignments = two_a_socket();
  Events events;
  for (int round = 0; round < 20; ++round) {
    program.run(events, round % 2 == 0 ? outside_in(16) : near_pairs(16), 200);
    program.change();
  }
  AgentOptions options;
  options.kept_after_decision = 0;  // nothing from the previous pattern
  options.interval_step_ms = 0;
  EXPECT_EQ(moves(decisions(events, options)), 0);
}

// With the published counting, a steady pattern fades: each decision leaves 3/4 and adds nothing.
TEST_F(AgentTest, SteadyPatternFadesWithPublishedCounting) {
  Program program(8, 12);
  Events events;
  program.run(events, near_pairs(8), 10'000);
  AgentOptions as_printed;
  as_printed.counting = Counting::newcomers;
  const std::vector<Decision> printed = decisions(events, as_printed);
  EXPECT_EQ(printed.back().reason, Reason::too_few_touches);
  EXPECT_LT(printed.back().counts, 1);
  EXPECT_GT(decisions(events).back().counts, 1000);
}

// The same events always give the same decisions.
RC_GTEST_FIXTURE_PROP(AgentTest, DecisionsAreReproducible, ()) {
  const int threads = *rc::gen::inRange(1, 12);
  Program program(threads, *rc::gen::arbitrary<std::uint64_t>());
  Events events;
  const auto pairs = *rc::gen::container<Pairs>(
      rc::gen::pair(rc::gen::inRange(0, threads), rc::gen::inRange(0, threads)));
  program.run(events, pairs, 1000);
  const auto first = decisions(events);
  const auto second = decisions(events);
  RC_ASSERT(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    RC_ASSERT(first[i].reason == second[i].reason);
    RC_ASSERT(first[i].wanted == second[i].wanted);
    RC_ASSERT(first[i].gain_s == second[i].gain_s);
    // All hardware threads are allowed and distinct.
    const std::set<int> assignments(first[i].wanted.begin(), first[i].wanted.end());
    RC_ASSERT(assignments.size() == first[i].wanted.size());
  }
}

}  // namespace
}  // namespace huddle::threads
