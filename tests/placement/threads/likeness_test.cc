// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/accuracy.h"

#include <gmock/gmock.h>

#include <numeric>

namespace huddle::threads {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

TEST(Cosine, IsOneForProportionalVectors) {
  EXPECT_THAT(cosine({1, 2, 0}, {10, 20, 0}), Optional(DoubleNear(1, 1e-12)));
  EXPECT_THAT(cosine({1, 0}, {0, 3}), Optional(DoubleNear(0, 1e-12)));
  EXPECT_EQ(cosine({0, 0}, {0, 3}), std::nullopt);
}

TEST(RankCorrelation, DependsOnOrderOnly) {
  EXPECT_THAT(rank_correlation({1, 2, 3}, {1, 50, 51}), Optional(DoubleNear(1, 1e-12)));
  EXPECT_THAT(rank_correlation({1, 2, 3}, {9, 8, 1}), Optional(DoubleNear(-1, 1e-12)));
  EXPECT_THAT(rank_correlation({0, 0, 1, 1}, {5, 5, 7, 7}), Optional(DoubleNear(1, 1e-12)));
  EXPECT_EQ(rank_correlation({2, 2}, {1, 3}), std::nullopt);
}

double sum_of(Pattern pattern, bool is_second_half = false) {
  const std::vector<double> pairs = known_pairs(pattern, is_second_half);
  return std::accumulate(pairs.begin(), pairs.end(), 0.0);
}

TEST(KnownPairs, NumberOfPairsMatchesPattern) {
  EXPECT_EQ(sum_of(Pattern::pairs), 4);
  EXPECT_EQ(sum_of(Pattern::ring), 8);
  EXPECT_EQ(sum_of(Pattern::chain), 7);
  EXPECT_EQ(sum_of(Pattern::groups), 12);
  EXPECT_EQ(sum_of(Pattern::all_to_all), 28);
  EXPECT_EQ(sum_of(Pattern::none), 0);
  EXPECT_EQ(sum_of(Pattern::change), 4);
  EXPECT_EQ(sum_of(Pattern::change, true), 4);
  EXPECT_THAT(cosine(known_pairs(Pattern::change, false), known_pairs(Pattern::change, true)),
              Optional(0));
}

TEST(Patterns, AreFoundByName) {
  for (const std::string_view name : known_patterns) EXPECT_TRUE(pattern_named(name));
  EXPECT_EQ(pattern_named("all-to-all"), Pattern::all_to_all);
  EXPECT_EQ(pattern_named(""), std::nullopt);
}

}  // namespace
}  // namespace huddle::threads
