// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/run/run_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/system.h"
#include "common/text.h"

namespace huddle::cli {
namespace {

using bench::Side;
using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

ComparedRuns runs_of(const std::vector<double>& native, const std::vector<double>& huddle) {
  ComparedRuns compared;
  bench::WholeRuns& runs = compared.runs;
  runs.of(Side::native).wall_seconds = native;
  runs.of(Side::huddle).wall_seconds = huddle;
  runs.of(Side::native).cpu_seconds = std::vector<double>(native.size(), 2);
  runs.of(Side::huddle).cpu_seconds = std::vector<double>(huddle.size(), 3);
  return compared;
}

// Six turns with start-up runs.
ComparedRuns six_turns(double native, double huddle, double native_start, double huddle_start) {
  ComparedRuns compared = runs_of(std::vector<double>(6, native), std::vector<double>(6, huddle));
  compared.extras.start_up =
      StartUp{true, {std::vector<double>(6, native_start), std::vector<double>(6, huddle_start)}};
  return compared;
}

// Six turns in which other programs used one of two hardware threads, and the host a quarter.
ComparedRuns six_busy_turns() {
  ComparedRuns compared = runs_of(std::vector<double>(6, 2), std::vector<double>(6, 2));
  compared.runs.pus = 2;
  for (bench::SideRuns& side : compared.runs.sides) {
    side.machine_seconds = side.cpu_seconds;
    for (double& seconds : side.machine_seconds) seconds += 2;
    side.stolen_seconds = std::vector<double>(6, 0.5);
  }
  return compared;
}

// Returns whether no line is longer than a terminal of 80 columns.
bool fits(const std::string& text) {
  const auto lines = split(text, '\n');
  return std::all_of(lines.begin(), lines.end(),
                     [](const auto& line) { return line.size() <= 80; });
}

// Joins the lines, so that tests do not depend on line breaks.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const std::string& word : words(text)) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(Compared, ShowsBothTimesAndTheirRatio) {
  const std::string text = compared_text(runs_of({3, 3.3, 3.6, 3, 3, 3}, {2, 2, 2, 2, 2, 1.5}));
  EXPECT_THAT(text, ContainsRegex("without huddle +3.000 s +3.000 s +3.600 s +2.000 s"));
  EXPECT_THAT(text, ContainsRegex("with huddle +2.000 s +1.500 s +2.000 s +3.000 s"));
  EXPECT_THAT(text, HasSubstr("without / with huddle: 1.575 (1.500 to 2.000) from 6 runs of each"));
  EXPECT_THAT(text, Not(HasSubstr("Start and end"))) << "was not measured";
  EXPECT_THAT(text, Not(HasSubstr("Collectives")));
  EXPECT_THAT(text, Not(HasSubstr("Other load")));
}

TEST(Compared, ReportsOnlySignificantDifferences) {
  const std::vector<double> six(6, 2);
  EXPECT_THAT(compared_text(runs_of(std::vector<double>(6, 3), six)),
              HasSubstr("\nFaster with huddle.\n"));
  EXPECT_THAT(compared_text(runs_of(std::vector<double>(6, 1), six)),
              HasSubstr("\nSlower with huddle.\n"));
  EXPECT_THAT(compared_text(runs_of({3, 3, 3, 3, 3, 1}, six)),
              HasSubstr("\nToo short to tell: the interval contains 1"));
  EXPECT_THAT(compared_text(runs_of({3, 3, 3, 3, 3}, {2, 2, 2, 2, 2})), HasSubstr("\n"
                                                                                  "Too few runs"));
}

TEST(Compared, DrawsNoConclusionFromRunsThatAreMostlyStartUp) {
  EXPECT_EQ(verdict_on(six_turns(1, 0.9, 0.4, 0.4)).conclusion, Conclusion::faster);
  const RunVerdict verdict = verdict_on(six_turns(1, 0.9, 0.6, 0.6));
  EXPECT_EQ(verdict.conclusion, Conclusion::too_short);
  EXPECT_THAT(verdict.sentence,
              HasSubstr("start and end take 0.600 of the 1.000 s of a run without huddle"));
  EXPECT_THAT(verdict.sentence, HasSubstr("longer input"));
}

TEST(Compared, IsNotSlowerIfStartUpExplainsTheDifference) {
  EXPECT_EQ(verdict_on(six_turns(1, 1.1, 0.4, 0.42)).conclusion, Conclusion::slower);
  const RunVerdict verdict = verdict_on(six_turns(1, 1.1, 0.3, 0.45));
  EXPECT_EQ(verdict.conclusion, Conclusion::too_short);
  EXPECT_THAT(verdict.sentence, HasSubstr("0.100 s longer, which its start-up alone can explain"));
}

TEST(Compared, StatesStartUpCostAndWhatWasCompared) {
  ComparedRuns compared = six_turns(10, 9, 0.458, 0.479);
  std::string text = compared_text(compared);
  EXPECT_TRUE(fits(text)) << text;
  EXPECT_THAT(on_one_line(text), HasSubstr("Start and end huddle adds 0.021 s (0.021 to 0.021)"));
  EXPECT_THAT(on_one_line(text),
              HasSubstr("the same command with a program that only begins and ends MPI, 0.458 s "
                        "without huddle and 0.479 s with it"));
  EXPECT_THAT(text, Not(HasSubstr("chance")));
  compared.extras.start_up->with_mpi = false;
  compared.extras.start_up->wall_seconds[1].front() = 0.4;
  text = on_one_line(compared_text(compared));
  EXPECT_THAT(text, HasSubstr("(-0.058 to 0.021)"));
  EXPECT_THAT(text, HasSubstr("which may be chance"));
  EXPECT_THAT(text, HasSubstr("a program that does nothing"));
}

TEST(Compared, DoesNotTrustTheStartUpOfTooFewTurns) {
  ComparedRuns compared = runs_of({10, 10}, {9, 9});
  compared.extras.start_up = StartUp{true, {{{0.4, 0.4}, {0.3, 0.3}}}};
  EXPECT_THAT(on_one_line(compared_text(compared)),
              HasSubstr("adds -0.100 s (-0.100 to -0.100) before and after the program's own work, "
                        "by too few runs for a reliable interval"));
}

TEST(Compared, StatesThatHuddleHandledNothing) {
  ComparedRuns compared = six_turns(10, 9, 0.458, 0.479);
  compared.taken = "80 collectives of rank 0 handled, 0 left to the MPI";
  EXPECT_THAT(on_one_line(compared_text(compared)), Not(HasSubstr("handled no collective")));
  compared.taken = "0 collectives of rank 0 handled, 80 left to the MPI";
  const std::string text = compared_text(compared);
  EXPECT_TRUE(fits(text)) << text;
  EXPECT_THAT(on_one_line(text),
              HasSubstr("huddle handled no collective of rank 0, so the runs differ "
                        "only by its start-up and by chance"));
}

TEST(Compared, StatesTheShareOfCollectives) {
  ComparedRuns compared = six_turns(10, 9, 0.458, 0.479);
  compared.extras.collectives = CollectiveShares{{{{0.4, 0.31, 0.3}, {0.2, 0.1, 0.12}}}};
  const std::string text = compared_text(compared);
  EXPECT_TRUE(fits(text)) << text;
  EXPECT_THAT(on_one_line(text), HasSubstr("Collectives 31 % of the time from MPI_Init to "
                                           "MPI_Finalize without huddle, 12 % with it"));
  EXPECT_THAT(on_one_line(text), HasSubstr("median of 3 more runs of each"));
}

TEST(Compared, StatesTheLoadOfOtherPrograms) {
  ComparedRuns compared = six_busy_turns();
  const std::string text = compared_text(compared);
  EXPECT_TRUE(fits(text)) << text;
  EXPECT_THAT(
      on_one_line(text),
      HasSubstr("the machine was busy: other programs used 1.00 of its 2 hardware threads"));
  EXPECT_THAT(on_one_line(text), HasSubstr("host of this virtual machine used 0.25 of"));
  EXPECT_THAT(on_one_line(text), HasSubstr("on an idle machine"));
  compared.knows_its_processes = false;
  EXPECT_THAT(compared_text(compared), Not(HasSubstr("other programs")))
      << "they may be ranks that a daemon started";
  for (bench::SideRuns& side : compared.runs.sides) {
    side.machine_seconds = side.cpu_seconds;
    side.stolen_seconds.assign(6, 0);
  }
  EXPECT_THAT(compared_text(compared), Not(HasSubstr("Other load")));
  compared.knows_its_processes = true;
  EXPECT_THAT(compared_text(compared), HasSubstr("the machine was not busy"));
}

TEST(Compared, PrintsEverythingAsJson) {
  ComparedRuns compared = six_busy_turns();
  compared.extras.collectives = CollectiveShares{{{{0.3}, {0.2}}}};
  const json document = json::parse(compared_json(compared));
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["conclusion"]["result"], "too_short");
  EXPECT_THAT(document["conclusion"]["text"].get<std::string>(), HasSubstr("Too short to tell"));
  EXPECT_TRUE(document["start_up"].is_null());
  EXPECT_EQ(document["collectives"]["native_share"], 0.3);
  EXPECT_EQ(document["collectives"]["huddle_shares"], json({0.2}));
  EXPECT_EQ(document["other_load"]["hardware_threads"], 2);
  EXPECT_EQ(document["other_load"]["used_by_others"], 1.0);
  EXPECT_EQ(document["other_load"]["stolen"], 0.25);
  EXPECT_EQ(document["other_load"]["busy"], true);

  const json other = json::parse(compared_json(six_turns(1, 0.9, 0.25, 0.5)));
  EXPECT_EQ(other["conclusion"]["result"], "faster");
  EXPECT_EQ(other["start_up"]["added_seconds"]["median"], 0.25);
  EXPECT_EQ(other["start_up"]["added_seconds"]["enough_runs"], true);
  EXPECT_EQ(other["start_up"]["native_seconds"].size(), 6U);
  EXPECT_TRUE(other["collectives"].is_null());
  EXPECT_TRUE(other["other_load"].is_null());
}

TEST(ReportedShare, IsReadFromTheLineOnTimes) {
  EXPECT_EQ(reported_share("huddle: 5 collectives of rank 0 handled, 1 left to the MPI\n"
                           "huddle: blocking collectives took 2.15 s of the 2.3 s from MPI_Init "
                           "to MPI_Finalize (93 %); huddle can save a part of this time\n"),
            0.93);
  EXPECT_EQ(reported_share("huddle: 5 collectives of rank 0 handled, 1 left to the MPI\n"),
            std::nullopt);
  EXPECT_EQ(reported_share(""), std::nullopt);
}

TEST(HasCalledMpi, IsKnownFromTheSummary) {
  const std::string handled = "huddle: 5 collectives of rank 0 handled, 1 left to the MPI\n";
  const std::string none = "huddle: rank 0 called no collective\n";
  const std::string no_mpi = "huddle: the program did not call MPI, so there is nothing\n";
  EXPECT_TRUE(has_called_mpi(handled) && has_called_collectives(handled));
  EXPECT_TRUE(has_called_mpi(none) && !has_called_collectives(none));
  EXPECT_FALSE(has_called_mpi(no_mpi) || has_called_collectives(no_mpi));
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
