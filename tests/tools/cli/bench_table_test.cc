// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/bench/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string epyc = HUDDLE_SOURCE_DIR "/machines/epyc-2x64-estimate.toml";

std::vector<std::string> table(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"bench", "engine", "--table"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Ran predict(const std::vector<std::string>& more) {
  std::vector<std::string> words = table({"--dry-run", "--machine", epyc});
  words.insert(words.end(), more.begin(), more.end());
  return Program().run(words);
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

TEST(BenchTable, PredictsForAnotherMachine) {
  const Ran ran = predict({"-n", "16"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(
      ran.out,
      HasSubstr(
          "16 ranks; predicted times in microseconds; * marks the\nalgorithm that huddle selects"));
  EXPECT_THAT(ran.out, HasSubstr("\nalltoallv (and alltoallw)\n"));
  EXPECT_THAT(ran.out, HasSubstr("\nallgather (and allgatherv)\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\n  inline +\\*[0-9.]+ +- +- +- +-\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n"
                                 "  inline requires: at most 256 bytes\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  pipelined requires: nothing\n"));
}

TEST(BenchTable, FitsTheTerminal) {
  for (const int columns : {80, 100, 120}) {
    const Ran ran =
        Program().run_in_terminal(columns, table({"--dry-run", "--machine", epyc, "-n", "64"}));
    for (const std::string& line : lines(ran.out)) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(std::min(columns, 100)) + 1) << line;
    }
  }
}

TEST(BenchTable, PrintsATableInMarkdown) {
  const Ran ran = predict({"--markdown"});
  std::size_t rows = 0;
  std::ptrdiff_t bars = 0;
  for (const std::string& line : lines(ran.out)) {
    if (line.empty() || line.front() != '|') continue;
    const auto here = std::count(line.begin(), line.end(), '|');
    if (rows++ == 0) bars = here;
    EXPECT_EQ(here, bars) << line;
  }
  EXPECT_EQ(bars, 9);
  EXPECT_GT(rows, 30U);
  EXPECT_THAT(ran.out, ContainsRegex("\\| bcast \\| inline \\| at most 256 bytes \\| "
                                     "\\*\\*[0-9.]+\\*\\* \\| - \\| - \\| - \\| - \\|"));
}

TEST(BenchTable, JsonHasEveryFigure) {
  const Ran ran = Program().run(table({"--no-calibrate", "--quick", "--rounds", "1", "--json"}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json bench = json::parse(ran.out);
  EXPECT_EQ(bench["schema"], 1);
  EXPECT_EQ(bench["command"], "bench");
  EXPECT_EQ(bench["what"], "table");
  EXPECT_EQ(bench["ranks"], 2);
  EXPECT_EQ(bench["dry_run"], false);
  EXPECT_EQ(bench["rounds"], 1);
  EXPECT_EQ(bench["operations"].size(), 14U);
  std::size_t far = 0;
  for (const auto& operation : bench["operations"]) {
    for (const auto& algorithm : operation["algorithms"]) {
      for (const auto& point : algorithm["points"]) {
        EXPECT_EQ(point["ns"].size(), 1U) << operation["operation"] << algorithm["algorithm"];
        EXPECT_GT(point["median_ns"], 0);
        EXPECT_GT(point["predicted_ns"], 0);
        EXPECT_GE(point["times_off"], 1);
        far += point["times_off"] > 2 ? 1U : 0U;
      }
    }
  }
  EXPECT_EQ(bench["model_error"]["mispredicted"], far);
  EXPECT_THAT(ran.err, HasSubstr("[1/66] barrier"));
}

TEST(BenchTable, MarksBadPredictions) {
  bench::Cell near;
  near.best.ns = 100;
  near.ns = {150};
  bench::Cell far = near;
  far.ns = {300};
  BenchTableReport report;
  bench::OperationTable& table = report.tables.emplace_back();
  table.operation = select::Operation::bcast;
  table.bytes = {8, 64};
  table.rows = {{"inline", "", {near, far}}};
  const std::string text = bench_table_text(report, 100);
  EXPECT_THAT(text, ContainsRegex("0.100/0.150 +0.100/0.300\\?"));
  EXPECT_THAT(text, HasSubstr("differ by a factor of 2.25"));
  EXPECT_THAT(bench_table_markdown(report), HasSubstr("| 0.100/0.150 | 0.100/0.300? |"));
}

TEST(BenchTable, PrintsSimulatedTimesInTheMiddle) {
  bench::Cell chosen;
  chosen.best.ns = 100;
  chosen.chosen = true;
  chosen.simulated_ns = 120;
  chosen.ns = {150};
  bench::Cell faster = chosen;
  faster.chosen = false;
  faster.ns = {130};
  BenchTableReport report;
  report.simulated = true;
  bench::OperationTable& table = report.tables.emplace_back();
  table.operation = select::Operation::bcast;
  table.bytes = {8, 64};
  table.rows = {{"inline", "", {chosen, chosen}}, {"pipelined", "", {faster, std::nullopt}}};
  EXPECT_THAT(bench_table_text(report, 100), HasSubstr("0.100/0.120/0.150"));
  EXPECT_DOUBLE_EQ(report.simulation_error().median_times_off, 1.25);
  EXPECT_EQ(report.choices().points, 2U);
  EXPECT_EQ(report.choices().near_best, 1U);
  const json document = json::parse(bench_table_json(report));
  EXPECT_EQ(document["choices"]["near_best"], 1);
  EXPECT_EQ(document["operations"][0]["algorithms"][0]["points"][0]["simulated_ns"], 120);
}

TEST(BenchTable, SimulatesForAnotherMachine) {
  const Program program;
  const Ran ran = program.run(table({"--dry-run", "--simulate", "--machine", epyc, "--json"}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  for (const json& operation : document["operations"]) {
    for (const json& row : operation["algorithms"]) {
      for (const json& point : row["points"]) EXPECT_GT(point["simulated_ns"], 0);
    }
  }
}

TEST(BenchTable, WritesTableAndJsonInOneRun) {
  const Program program;
  const std::string file = program.home().path("table.json");
  const Ran ran =
      program.run(table({"--dry-run", "--machine", epyc, "--markdown", "--json", file}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("| operation | algorithm |"));
  EXPECT_EQ(json::parse(std::ifstream(file))["dry_run"], true);
}

TEST(BenchTable, RefusesConflictingOptions) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"bench", "--table"},
                                             {"bench", "engine", "--markdown"},
                                             {"bench", "engine", "--dry-run"},
                                             {"bench", "engine", "--simulate"},
                                             table({"--variants"}),
                                             table({"--ranks", "1"}),
                                             table({"--markdown", "--json"})}) {
    EXPECT_EQ(Program().run(words).status, 2) << words.back();
  }
  const Ran ran = Program().run(table({"--machine", epyc}));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("only this machine can be measured"));
}

}  // namespace
}  // namespace huddle::cli
