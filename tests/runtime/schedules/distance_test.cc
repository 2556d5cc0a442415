// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/distance.h"

#include <gtest/gtest.h>

#include <vector>

namespace huddle::schedules {
namespace {

Fraction counted(const char* name, int ranks) {
  const auto schedule = make_schedule(algorithm_named(name), {.ranks = ranks});
  return counted_distance(*schedule).value();
}

Fraction closed(const char* name, int ranks) {
  return closed_distance(algorithm_named(name), {.ranks = ranks}).value();
}

TEST(Distance, RingAndNeighborExchangeMatchClosedForms) {
  for (int ranks = 2; ranks <= 4096; ++ranks) {
    ASSERT_EQ(counted("allgather:ring", ranks), closed("allgather:ring", ranks)) << ranks;
    ASSERT_EQ(counted("allgather:neighbor", ranks), closed("allgather:neighbor", ranks)) << ranks;
  }
}

TEST(Distance, DoublingAndBruckMatchClosedForms) {
  for (int ranks = 2; ranks <= 4096; ranks *= 2) {
    ASSERT_EQ(counted("allgather:doubling", ranks), closed("allgather:doubling", ranks)) << ranks;
    const Fraction short_form(4LL * ranks * ranks - 6 * ranks + 2,
                              3LL * ranks * (std::bit_width(static_cast<unsigned>(ranks)) - 1));
    ASSERT_EQ(counted("allgather:bruck", ranks), short_form) << ranks;
  }
  for (int ranks = 2; ranks <= 1030; ++ranks) {
    ASSERT_EQ(counted("allgather:bruck", ranks), closed("allgather:bruck", ranks)) << ranks;
  }
}

// Values of the paper's formulas, computed by hand.
TEST(Distance, MatchesKnownValues) {
  EXPECT_EQ(counted("allgather:ring", 10), Fraction(9, 5));
  EXPECT_EQ(counted("allgather:neighbor", 8), Fraction(7, 4));
  EXPECT_EQ(counted("allgather:neighbor", 10), Fraction(41, 25));
  EXPECT_EQ(counted("allgather:neighbor", 5), Fraction(14, 10));
  EXPECT_EQ(counted("allgather:neighbor", 7), Fraction(28, 20));
  EXPECT_EQ(counted("allgather:bruck", 10), Fraction(13, 4));
}

TEST(Distance, PrintedFormOfBruckHoldsForPowersOfTwoOnly) {
  const Algorithm& bruck = algorithm_named("allgather:bruck");
  EXPECT_EQ(printed_distance(bruck, {.ranks = 10}), Fraction(-31, 20));
  EXPECT_EQ(printed_distance(bruck, {.ranks = 6}), Fraction(5, 9));
  for (int ranks = 2; ranks <= 4096; ++ranks) {
    const bool right =
        printed_distance(bruck, {.ranks = ranks}) == closed("allgather:bruck", ranks);
    ASSERT_EQ(right, (ranks & (ranks - 1)) == 0) << ranks;
  }
}

// With 4 ranks the first three are equal.
TEST(Distance, RanksAlgorithmsAsInThePaper) {
  EXPECT_EQ(counted("allgather:neighbor", 4), Fraction(3, 2));
  EXPECT_EQ(counted("allgather:ring", 4), Fraction(3, 2));
  EXPECT_EQ(counted("allgather:doubling", 4), Fraction(3, 2));
  for (int ranks = 8; ranks <= 4096; ranks *= 2) {
    const double ring = counted("allgather:ring", ranks).value();
    const double doubling = counted("allgather:doubling", ranks).value();
    EXPECT_LE(counted("allgather:neighbor", ranks).value(), ring) << ranks;
    EXPECT_LT(ring, doubling) << ranks;
    EXPECT_LT(doubling, counted("allgather:bruck", ranks).value()) << ranks;
  }
}

TEST(Distance, IsUndefinedForOneRank) {
  EXPECT_FALSE(counted_distance(*make_schedule(algorithm_named("allgather:ring"), {.ranks = 1})));
}

}  // namespace
}  // namespace huddle::schedules
