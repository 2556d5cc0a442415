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
ActivationDecision judge_small(std::size_t calls, std::uint64_t past_ns = 0) {
  return decide_activation(calls, {calls * call_ns, past_ns, team_set_up_ns});
}

TEST(ActivationCost, IsReachedOnceTheCallsWouldHaveSavedIt) {
  EXPECT_FALSE(judge_small(required_calls - 1).is_due);
  EXPECT_TRUE(judge_small(required_calls).is_due);
  EXPECT_TRUE(judge_small(second_vote, (required_calls - second_vote) * call_ns).is_due);
}

// A vote takes as long as a call, so votes are rare, and the last one is made when the calls are
// expected to have repaid the cost.
TEST(ActivationCost, VotesAreRareAndInTime) {
  EXPECT_EQ(judge_small(first_vote).next_vote, second_vote);
  EXPECT_EQ(judge_small(64).next_vote, 128U) << "the calls to come may move more";
  const ActivationDecision far = judge_small(required_calls / 3);
  EXPECT_FALSE(far.is_near);
  EXPECT_EQ(far.next_vote, required_calls / 2);
  const ActivationDecision near = judge_small(required_calls / 2);
  EXPECT_FALSE(near.is_due);
  EXPECT_TRUE(near.is_near);
  EXPECT_EQ(near.next_vote, required_calls);
  EXPECT_TRUE(judge_small(near.next_vote).is_due);
  EXPECT_EQ(judge_small(second_vote, (required_calls - second_vote - 1) * call_ns).next_vote,
            second_vote + second_vote / 4);
}

TEST(ActivationCost, IsReachedAtOnceByLargeCalls) {
  EXPECT_TRUE(decide_activation(first_vote, {3 * team_set_up_ns, 0, team_set_up_ns}).is_due);
  EXPECT_TRUE(decide_activation(first_vote, {3 * team_set_up_ns / 2, 0, team_set_up_ns}).is_near);
}

TEST(ActivationCost, CombinesTheTermsOfAllRanks) {
  ActivationTerms of_all{50, 100, 40, 400};
  of_all.combine({60, 90, 60, 300});
  EXPECT_EQ(of_all.mpi_ns, 50U);
  EXPECT_EQ(of_all.past_mpi_ns, 90U);
  EXPECT_EQ(of_all.team_set_up_ns, 60U);
  EXPECT_EQ(of_all.nodes_set_up_ns, 400U);
}

// In a loop that creates communicators, each one would pay for a new set-up, so calls on freed
// communicators do not count.
TEST(ActivationCost, OverSeveralNodesCountsCallsOfOneCommunicator) {
  const ActivationTerms few{second_vote * call_ns, 10 * team_set_up_ns, 1, team_set_up_ns};
  EXPECT_TRUE(decide_activation(second_vote, few).is_due);
  EXPECT_FALSE(decide_activation(second_vote, few.over_nodes()).is_due);
  const ActivationTerms many{required_calls * call_ns, 0, 1, team_set_up_ns};
  EXPECT_TRUE(decide_activation(required_calls, many.over_nodes()).is_due);
}

TEST(PastCalls, AreKeptByRanksInOrder) {
  PastCalls past;
  past.add({0, 1}, 10);
  past.add({1, 0}, 5);
  past.add({0, 1}, 3);
  EXPECT_EQ(past.ns_of(std::vector{0, 1}), 13U);
  EXPECT_EQ(past.ns_of(std::vector{1, 0}), 5U);
  EXPECT_EQ(past.ns_of(std::vector{0, 1, 2}), 0U);
}

TEST(PastCalls, KeepOnlyTheLatestCommunicators) {
  PastCalls past;
  past.add({0, 1}, 10);
  for (int rank = 2; rank < 1000; ++rank) {
    past.add({0, rank}, 1);
    if (rank < 500) past.add({0, 1}, 1);
  }
  EXPECT_EQ(past.ns_of(std::vector{0, 999}), 1U);
  EXPECT_EQ(past.ns_of(std::vector{0, 1}), 0U) << "long ago";
}

}  // namespace
}  // namespace huddle::mpi
