// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "ucx/score.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace huddle::ucx {
namespace {

std::string_view taken(const Version& version, int ranks) {
  return best_path(shipped_ratings(version), judged_bytes, ranks).value();
}

// As the paper found it: KNEM's figure is shared by all ranks and loses from two on.
TEST(Score, ConstantsOf19TakeKnemForOneRankOnly) {
  EXPECT_EQ(taken({1, 9}, 1), "knem");
  EXPECT_EQ(taken({1, 9}, 2), "cma");
  EXPECT_EQ(taken({1, 9}, 32), "cma");
}

TEST(Score, DedicatedKnemIsTakenForAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 32}) EXPECT_EQ(taken({1, 14}, ranks), "knem") << ranks;
}

TEST(Score, NothingIsTakenOfNothing) { EXPECT_EQ(best_path({}, judged_bytes, 2), std::nullopt); }

RC_GTEST_PROP(Score, RisesWithTheRateAndFallsWithRanksThatShareIt, ()) {
  const double rate = *rc::gen::inRange(1, 100000) * ucx_mb;
  const double bytes = *rc::gen::inRange(1, 1 << 24);
  const int ranks = *rc::gen::inRange(1, 256);
  const Rating shared{0, rate, 80};
  const Rating dedicated{rate, 0, 80};
  RC_ASSERT(score({0, 2 * rate, 80}, bytes, ranks) > score(shared, bytes, ranks));
  RC_ASSERT(score(shared, bytes, ranks) > score(shared, bytes, ranks + 1));
  RC_ASSERT(score(dedicated, bytes, ranks) == score(dedicated, bytes, ranks + 1));
  RC_ASSERT(score(dedicated, bytes, ranks) >= score(shared, bytes, ranks));
}

}  // namespace
}  // namespace huddle::ucx
