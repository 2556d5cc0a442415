// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/score.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace huddle::ucx {
namespace {

std::string_view taken(const Version& version, int ranks) {
  return best_path(shipped_ratings(version), judged_bytes, ranks).value();
}

// As in the paper: KNEM's rate is shared by all ranks, and CMA is better from two ranks on.
TEST(Score, Version19SelectsKnemForOneRankOnly) {
  EXPECT_EQ(taken({1, 9}, 1), "knem");
  EXPECT_EQ(taken({1, 9}, 2), "cma");
  EXPECT_EQ(taken({1, 9}, 32), "cma");
}

TEST(Score, DedicatedKnemIsSelectedForAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 32}) EXPECT_EQ(taken({1, 14}, ranks), "knem") << ranks;
}

// Returns the time in seconds of a message between two ends with these constants.
double seconds(const Rating& local, const Rating& remote, double bytes) {
  return 1 / score(local, remote, bytes, 1);
}

TEST(Score, IncludesOverheadAndRegistration) {
  const Rating bare{1e9, 0, 80, 0, 0, 0};
  const Rating knem{1e9, 0, 80, 2000, 1200, 0.007};
  EXPECT_NEAR(seconds(knem, bare, 1e6) - seconds(bare, bare, 1e6), 1e-9 * (2000 + 1200 + 7000),
              1e-12);
}

TEST(Score, SlowerEndLimitsRate) {
  const Rating fast{4e9, 0, 0, 0, 0, 0};
  const Rating slow{1e9, 0, 0, 0, 0, 0};
  EXPECT_NEAR(seconds(fast, slow, 1e6), 1e-3, 1e-9);
  EXPECT_NEAR(seconds(slow, fast, 1e6), 1e-3, 1e-9);
}

Rating shipped(const Version& version, std::string_view path) {
  for (const RatedPath& one : shipped_ratings(version)) {
    if (one.path == path) return one.rating;
  }
  return {};
}

TEST(Score, ConstantsDependOnVersion) {
  EXPECT_EQ(shipped({1, 11}, "cma").overhead_ns, 400);
  EXPECT_EQ(shipped({1, 11}, "knem").overhead_ns, 250);
  EXPECT_EQ(shipped({1, 12}, "cma").overhead_ns, 2000);
  EXPECT_EQ(shipped({1, 12}, "knem").overhead_ns, 2000);
  EXPECT_EQ(shipped({1, 9}, "cma").registration_ns, 9);
  EXPECT_EQ(shipped({1, 15}, "knem").registration_ns, 180);
  EXPECT_EQ(shipped({1, 16}, "knem").registration_ns, 1200);
  EXPECT_EQ(shipped({1, 16}, "knem").registration_ns_per_byte, 0.007);
}

// Since KNEM registers memory for each message, CMA is better for small ones.
TEST(Score, RegistrationDecidesForSmallMessages) {
  EXPECT_EQ(best_path(shipped_ratings({1, 16}), 16384, 2), "cma");
  EXPECT_EQ(best_path(shipped_ratings({1, 16}), judged_bytes, 2), "knem");
}

TEST(Score, LaneRatioIsFourSince111) {
  EXPECT_EQ(shipped_lane_ratio({1, 9}), 10);
  EXPECT_EQ(shipped_lane_ratio({1, 10}), 10);
  EXPECT_EQ(shipped_lane_ratio({1, 11}), 4);
  EXPECT_EQ(shipped_lane_ratio({1, 22}), 4);
}

// From the shares of a card that UCX 1.19, 1.20 and 1.22 print with UCX_NUM_PPN from 1 to 64.
TEST(Score, DividesByAtMostEightRanksSince120) {
  EXPECT_EQ(ranks_divided_by({1, 19}, 64), 64);
  EXPECT_EQ(ranks_divided_by({1, 20}, 4), 4);
  EXPECT_EQ(ranks_divided_by({1, 20}, 64), 8);
}

TEST(Score, NoPathsGiveNoResult) { EXPECT_EQ(best_path({}, judged_bytes, 2), std::nullopt); }

RC_GTEST_PROP(Score, RisesWithRateAndFallsWithSharers, ()) {
  const double rate = *rc::gen::inRange(1, 100000) * ucx_mb;
  const double bytes = *rc::gen::inRange(1, 1 << 24);
  const int ranks = *rc::gen::inRange(1, 256);
  const Rating shared{0, rate, 80, 0, 0, 0};
  const Rating faster{0, 2 * rate, 80, 0, 0, 0};
  const Rating dedicated{rate, 0, 80, 0, 0, 0};
  const auto own = [&](const Rating& rating, int sharers) {
    return score(rating, rating, bytes, sharers);
  };
  RC_ASSERT(own(faster, ranks) > own(shared, ranks));
  RC_ASSERT(own(shared, ranks) > own(shared, ranks + 1));
  RC_ASSERT(own(dedicated, ranks) == own(dedicated, ranks + 1));
  RC_ASSERT(own(dedicated, ranks) >= own(shared, ranks));
}

}  // namespace
}  // namespace huddle::ucx
