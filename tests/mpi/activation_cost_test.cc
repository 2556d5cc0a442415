// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/activation_cost.h"

#include <gtest/gtest.h>

namespace huddle::mpi {
namespace {

constexpr std::uint64_t team_set_up_ns = 2'000'000;
constexpr std::uint64_t call_ns = 1000;
// The calls that repay the set-up if huddle saves a third of each call.
constexpr std::uint64_t required_calls = 3 * team_set_up_ns / call_ns;

// Returns the decision after a number of small calls.
ActivationDecision judge_small(std::size_t calls, std::uint64_t past_use = 0) {
  return decide_activation(calls, {calls, past_use, call_ns, team_set_up_ns});
}

TEST(ActivationCost, IsUnknownBeforeACallWasTimed) {
  const ActivationDecision verdict =
      decide_activation(first_vote, {first_vote, 1'000'000, 0, team_set_up_ns});
  EXPECT_FALSE(verdict.is_due);
  EXPECT_EQ(verdict.next_vote, 2 * first_vote);
}

TEST(ActivationCost, IsReachedOnceTheCallsWouldHaveSavedIt) {
  EXPECT_FALSE(judge_small(required_calls - 1).is_due);
  EXPECT_TRUE(judge_small(required_calls).is_due);
  EXPECT_TRUE(judge_small(first_vote, required_calls - first_vote).is_due);
}

// A vote takes as long as a call, so votes are rare, and the last one is made when the calls are
// expected to have repaid the cost.
TEST(ActivationCost, VotesAreRareAndInTime) {
  EXPECT_EQ(judge_small(64).next_vote, 128U) << "the calls to come may move more";
  const ActivationDecision far = judge_small(required_calls / 3);
  EXPECT_FALSE(far.is_near);
  EXPECT_EQ(far.next_vote, required_calls / 2);
  const ActivationDecision near = judge_small(required_calls / 2);
  EXPECT_FALSE(near.is_due);
  EXPECT_TRUE(near.is_near);
  EXPECT_EQ(near.next_vote, required_calls);
  EXPECT_TRUE(judge_small(near.next_vote).is_due);
  EXPECT_EQ(judge_small(first_vote, required_calls - first_vote - 1).next_vote,
            first_vote + first_vote / 4);
}

TEST(ActivationCost, IsReachedSoonByLargeCalls) {
  constexpr std::size_t use_per_call = 100;
  const ActivationTerms unknown{use_per_call * first_vote, 0, 0, team_set_up_ns};
  EXPECT_EQ(decide_activation(first_vote, unknown).next_vote, first_vote + 1);
  const ActivationTerms known{use_per_call * first_vote, 0, call_ns, team_set_up_ns};
  const ActivationDecision verdict = decide_activation(first_vote, known);
  EXPECT_TRUE(verdict.is_near);
  EXPECT_EQ(verdict.next_vote, first_vote + 1);
}

TEST(ActivationCost, CombinesTheTermsOfAllRanks) {
  ActivationTerms of_all{50, 100, 700, 40, 400};
  of_all.combine({60, 90, 900, 60, 300});
  EXPECT_EQ(of_all.use, 50U);
  EXPECT_EQ(of_all.past_use, 90U);
  EXPECT_EQ(of_all.call_ns, 700U);
  EXPECT_EQ(of_all.team_set_up_ns, 60U);
  EXPECT_EQ(of_all.nodes_set_up_ns, 400U);
  of_all.combine({1000, 1000, 0, 0});
  EXPECT_EQ(of_all.call_ns, 0U) << "not known to one: known to none";
}

// In a loop that creates communicators, each one would pay for a new set-up, so calls on freed
// communicators do not count.
TEST(ActivationCost, OverSeveralNodesCountsCallsOfOneCommunicator) {
  const ActivationTerms few{first_vote, 1'000'000, call_ns, 1, team_set_up_ns};
  EXPECT_TRUE(decide_activation(first_vote, few).is_due);
  EXPECT_FALSE(decide_activation(first_vote, few.over_nodes()).is_due);
  const ActivationTerms many{required_calls, 0, call_ns, 1, team_set_up_ns};
  EXPECT_TRUE(decide_activation(required_calls, many.over_nodes()).is_due);
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
