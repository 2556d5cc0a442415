// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/activation_cost.h"

#include <gtest/gtest.h>

namespace huddle::mpi {
namespace {

constexpr std::uint64_t reduce_ns = 2'000'000;
constexpr std::uint64_t call_ns = 1000;
// If a third of each call is saved.
constexpr std::uint64_t price = 3 * reduce_ns / call_ns;

// Returns the verdict after a number of small calls.
ActivationDecision judge_small(std::size_t calls, std::uint64_t past_use = 0) {
  return decide_activation(calls, {calls, past_use, call_ns, reduce_ns});
}

TEST(JoinPrice, IsUnknownBeforeACallWasTimed) {
  const ActivationDecision verdict =
      decide_activation(first_ask, {first_ask, 1'000'000, 0, reduce_ns});
  EXPECT_FALSE(verdict.joins);
  EXPECT_EQ(verdict.next_ask, 2 * first_ask);
}

TEST(JoinPrice, IsReachedOnceTheCallsWouldHaveSavedIt) {
  EXPECT_FALSE(judge_small(price - 1).joins);
  EXPECT_TRUE(judge_small(price).joins);
  EXPECT_TRUE(judge_small(first_ask, price - first_ask).joins);
}

// Each vote costs a call, so votes are rare, and the last one is expected to reach the cost.
TEST(JoinPrice, VotesAreRareAndInTime) {
  EXPECT_EQ(judge_small(64).next_ask, 128U) << "the calls to come may move more";
  const ActivationDecision far = judge_small(price / 3);
  EXPECT_FALSE(far.is_near);
  EXPECT_EQ(far.next_ask, price / 2);
  const ActivationDecision near = judge_small(price / 2);
  EXPECT_FALSE(near.joins);
  EXPECT_TRUE(near.is_near);
  EXPECT_EQ(near.next_ask, price);
  EXPECT_TRUE(judge_small(near.next_ask).joins);
  EXPECT_EQ(judge_small(first_ask, price - first_ask - 1).next_ask, first_ask + first_ask / 4);
}

TEST(JoinPrice, IsReachedSoonByLargeCalls) {
  constexpr std::size_t use_per_call = 100;
  const ActivationTerms unknown{use_per_call * first_ask, 0, 0, reduce_ns};
  EXPECT_EQ(decide_activation(first_ask, unknown).next_ask, first_ask + 1);
  const ActivationTerms known{use_per_call * first_ask, 0, call_ns, reduce_ns};
  const ActivationDecision verdict = decide_activation(first_ask, known);
  EXPECT_TRUE(verdict.is_near);
  EXPECT_EQ(verdict.next_ask, first_ask + 1);
}

TEST(JoinPrice, CombinesTheTermsOfAllRanks) {
  ActivationTerms of_all{50, 100, 700, 40, 400};
  of_all.meet({60, 90, 900, 60, 300});
  EXPECT_EQ(of_all.use, 50U);
  EXPECT_EQ(of_all.past_use, 90U);
  EXPECT_EQ(of_all.call_ns, 700U);
  EXPECT_EQ(of_all.reduce_ns, 60U);
  EXPECT_EQ(of_all.nodes_join_ns, 400U);
  of_all.meet({1000, 1000, 0, 0});
  EXPECT_EQ(of_all.call_ns, 0U) << "not known to one: known to none";
}

// In a loop that creates communicators, each would pay for a new set-up.
TEST(JoinPrice, OverSeveralNodesCountsCallsOfOneCommunicator) {
  const ActivationTerms few{first_ask, 1'000'000, call_ns, 1, reduce_ns};
  EXPECT_TRUE(decide_activation(first_ask, few).joins);
  EXPECT_FALSE(decide_activation(first_ask, few.over_nodes()).joins);
  const ActivationTerms many{price, 0, call_ns, 1, reduce_ns};
  EXPECT_TRUE(decide_activation(price, many.over_nodes()).joins);
}

TEST(PastCalls, AreKeptByRanksInOrder) {
  PastCalls past;
  past.add({0, 1}, {10, 400});
  past.add({1, 0}, {5, 0});
  past.add({0, 1}, {3, 300});
  past.add({0, 1}, {1, 0});
  EXPECT_EQ(past.of(std::vector{0, 1}).use, 14U);
  EXPECT_EQ(past.of(std::vector{0, 1}).call_ns, 300U);
  EXPECT_EQ(past.of(std::vector{1, 0}).use, 5U);
  EXPECT_EQ(past.of(std::vector{0, 1, 2}).use, 0U);
}

TEST(PastCalls, KeepOnlyTheLatestCommunicators) {
  PastCalls past;
  past.add({0, 1}, {10, 0});
  for (int rank = 2; rank < 1000; ++rank) {
    past.add({0, rank}, {1, 0});
    if (rank < 500) past.add({0, 1}, {1, 0});
  }
  EXPECT_EQ(past.of(std::vector{0, 999}).use, 1U);
  EXPECT_EQ(past.of(std::vector{0, 1}).use, 0U) << "long ago";
}

}  // namespace
}  // namespace huddle::mpi
