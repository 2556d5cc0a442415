// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/engine_comparisons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "this_machine.h"
#include "tools/bench/engine/team_calls.h"

namespace huddle::bench {
namespace {

TEST(EngineComparisons, CoverTheEnginesBars) {
  std::set<std::string> bars;
  for (const Comparison& comparison : engine_comparisons({3, 5, 7}, {})) {
    EXPECT_EQ(comparison.binding.pus, (std::vector<int>{3, 5}));
    for (const Requirement& judgement : comparison.judgements) {
      bars.insert(judgement.what);
      EXPECT_FALSE(comparison.entries.at(judgement.subject).bare);
      ASSERT_FALSE(judgement.rivals.empty());
      for (const std::size_t rival : judgement.rivals)
        EXPECT_TRUE(comparison.entries.at(rival).bare);
    }
  }
  std::set<std::string> wanted = {"allgather of 4M",   "allgather of 512K",     "allreduce of 4M",
                                  "allreduce of 512K", "alltoall of 4M",        "alltoall of 512K",
                                  "barrier, 2 ranks",  "barrier, 8 on 2 cores", "broadcast of 4M",
                                  "broadcast of 512K", "broadcast of 8 bytes",  "gather of 4M",
                                  "gather of 512K"};
  for (const std::string operation : {"bcast", "allreduce", "alltoall", "allgather"}) {
    for (const std::string size : {"512K", "4M"}) {
      wanted.insert(operation + " of " + size + ", shared heap");
    }
  }
  if (ranks_may_read()) {
    wanted.insert({"allgather of 4M, single copy", "allgather of 512K, single copy",
                   "alltoall of 4M, single copy", "alltoall of 512K, single copy",
                   "gather of 4M, single copy", "gather of 512K, single copy"});
  }
  EXPECT_EQ(bars, wanted);
}

TEST(EngineComparisons, RequireTwoCores) {
  EXPECT_TRUE(engine_comparisons({0}, {}).empty());
  EXPECT_TRUE(engine_comparisons({}, {}).empty());
}

TEST(EngineComparisons, RunWithRightResults) {
  const std::vector<int> pus = test_pus();
  if (pus.size() < 2) GTEST_SKIP() << "two ranks that spin need two cores; this process has one";
  for (const Comparison& comparison : engine_comparisons(pus, {.quick = true})) {
    const Result result = hold_quietly(comparison);
    EXPECT_EQ(result.rounds, 1);
    EXPECT_EQ(result.verdicts.size(), comparison.judgements.size());
    for (const Verdict& verdict : result.verdicts) EXPECT_GT(verdict.median, 0) << verdict.what;
  }
}

}  // namespace
}  // namespace huddle::bench
