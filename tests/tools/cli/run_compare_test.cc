// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/run/run_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace huddle::cli {
namespace {

using bench::Side;
using testing::ContainsRegex;
using testing::HasSubstr;

bench::WholeRuns runs_of(const std::vector<double>& native, const std::vector<double>& huddle) {
  bench::WholeRuns runs;
  runs.of(Side::native).wall_seconds = native;
  runs.of(Side::huddle).wall_seconds = huddle;
  runs.of(Side::native).cpu_seconds = std::vector<double>(native.size(), 2);
  runs.of(Side::huddle).cpu_seconds = std::vector<double>(huddle.size(), 3);
  return runs;
}

TEST(Compared, ShowsBothTimesAndTheirRatio) {
  const std::string text = compared_text(runs_of({3, 3.3, 3.6, 3, 3, 3}, {2, 2, 2, 2, 2, 1.5}));
  EXPECT_THAT(text, ContainsRegex("without huddle +3.000 s +3.000 s +3.600 s +2.000 s"));
  EXPECT_THAT(text, ContainsRegex("with huddle +2.000 s +1.500 s +2.000 s +3.000 s"));
  EXPECT_THAT(text, HasSubstr("without / with huddle: 1.575 (1.500 to 2.000) from 6 runs of each"));
}

TEST(Compared, ReportsOnlySignificantDifferences) {
  const std::vector<double> six(6, 2);
  EXPECT_THAT(compared_text(runs_of(std::vector<double>(6, 3), six)),
              HasSubstr("\nFaster with huddle.\n"));
  EXPECT_THAT(compared_text(runs_of(std::vector<double>(6, 1), six)),
              HasSubstr("\nSlower with huddle.\n"));
  EXPECT_THAT(compared_text(runs_of({3, 3, 3, 3, 3, 1}, six)),
              HasSubstr("\nNo significant difference"));
  EXPECT_THAT(compared_text(runs_of({3, 3, 3, 3, 3}, {2, 2, 2, 2, 2})), HasSubstr("\n"
                                                                                  "Too few runs"));
}

TEST(TakenLine, IsTheLastOneOfHuddle) {
  EXPECT_EQ(
      taken_line("1: huddle: 5 collectives of rank 0 handled, 1 left to the MPI (single rank: 1)\n"
                 "the end"),
      "5 collectives of rank 0 handled, 1 left to the MPI (single rank: 1)");
  EXPECT_EQ(taken_line("huddle: rank 0 called no collective\n"), "");
  EXPECT_EQ(taken_line(""), "");
}

}  // namespace
}  // namespace huddle::cli
