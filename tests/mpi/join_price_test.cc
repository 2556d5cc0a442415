// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/join_price.h"

#include <gtest/gtest.h>

namespace huddle::mpi {
namespace {

constexpr std::uint64_t join_ns = 2'000'000;
constexpr std::uint64_t call_ns = 1000;
// At a third saved of each call.
constexpr std::uint64_t price = 3 * join_ns / call_ns;

JoinTerms terms(std::uint64_t past_calls) { return {past_calls, call_ns, join_ns}; }

TEST(JoinPrice, IsNotKnownBeforeACallWasTimed) {
  const JoinVerdict verdict = judge_price(first_ask, {1'000'000, 0, join_ns});
  EXPECT_FALSE(verdict.joins);
  EXPECT_EQ(verdict.next_ask, 2 * first_ask);
}

TEST(JoinPrice, IsPaidOnceTheCallsWouldHaveSavedAsMuch) {
  EXPECT_FALSE(judge_price(price - 1, terms(0)).joins);
  EXPECT_TRUE(judge_price(price, terms(0)).joins);
  EXPECT_TRUE(judge_price(first_ask, terms(price - first_ask)).joins);
}

// Asked at half of the price and then at the price: seldom, and never late.
TEST(JoinPrice, IsAskedForWhereItMatters) {
  const JoinVerdict early = judge_price(64, terms(0));
  EXPECT_FALSE(early.is_near);
  EXPECT_EQ(early.next_ask, price / 2);
  const JoinVerdict near = judge_price(price / 2, terms(0));
  EXPECT_FALSE(near.joins);
  EXPECT_TRUE(near.is_near);
  EXPECT_EQ(near.next_ask, price);
  EXPECT_TRUE(judge_price(near.next_ask, terms(0)).joins);
}

// Each ask takes a call: not more often than at twice as many calls.
TEST(JoinPrice, IsNotAskedForAgainAtOnce) {
  EXPECT_EQ(judge_price(first_ask, terms(price - first_ask - 1)).next_ask, 2 * first_ask);
}

TEST(JoinPrice, IsEverybodys) {
  JoinTerms of_all{100, 700, 40, 400};
  of_all.meet({90, 900, 60, 300});
  EXPECT_EQ(of_all.past_calls, 90U);
  EXPECT_EQ(of_all.call_ns, 700U);
  EXPECT_EQ(of_all.join_ns, 60U);
  EXPECT_EQ(of_all.nodes_join_ns, 400U);
  of_all.meet({1000, 0, 0});
  EXPECT_EQ(of_all.call_ns, 0U) << "not known to one: known to none";
}

// Each communicator of a loop would pay for joining anew.
TEST(JoinPrice, OverSeveralNodesIsForTheCallsOfOneCommunicator) {
  const JoinTerms of_all{1'000'000, call_ns, 1, join_ns};
  EXPECT_TRUE(judge_price(first_ask, of_all).joins);
  EXPECT_FALSE(judge_price(price - 1, of_all.over_nodes()).joins);
  EXPECT_TRUE(judge_price(price, of_all.over_nodes()).joins);
}

TEST(PastCalls, AreThoseOfTheSameRanksInTheSameOrder) {
  PastCalls past;
  past.add({0, 1}, {10, 400});
  past.add({1, 0}, {5, 0});
  past.add({0, 1}, {3, 300});
  past.add({0, 1}, {1, 0});
  EXPECT_EQ(past.of(std::vector{0, 1}).calls, 14U);
  EXPECT_EQ(past.of(std::vector{0, 1}).call_ns, 300U);
  EXPECT_EQ(past.of(std::vector{1, 0}).calls, 5U);
  EXPECT_EQ(past.of(std::vector{0, 1, 2}).calls, 0U);
}

TEST(PastCalls, AreForgottenWhereRanksAreAlwaysOthers) {
  PastCalls past;
  past.add({0, 1}, {10, 0});
  for (int rank = 2; rank < 1000; ++rank) {
    past.add({0, rank}, {1, 0});
    if (rank < 500) past.add({0, 1}, {1, 0});
  }
  EXPECT_EQ(past.of(std::vector{0, 999}).calls, 1U);
  EXPECT_EQ(past.of(std::vector{0, 1}).calls, 0U) << "long ago";
}

}  // namespace
}  // namespace huddle::mpi
