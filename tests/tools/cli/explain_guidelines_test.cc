// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/explain/explain_guidelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "program.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using select::Operation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string four_cores = "core:4 pu:1";

// Two violations of one guideline and one of another.
GuidelinesExplained planted() {
  const bench::Guideline by_allgather{.operation = Operation::gather,
                                      .mockup = bench::Mockup::gather_by_allgather};
  const bench::Guideline splitting{
      .operation = Operation::bcast, .call_scale = 2, .repetitions = 2};
  GuidelinesExplained explained;
  explained.subject.machine =
      machine::generic_machine(machine::discover_from_synthetic(four_cores).topology);
  explained.subject.machine.name = "four-cores";
  explained.ranks = {2, 3, 4};
  explained.points = 100;
  explained.violations = {{{by_allgather, 8}, 2, {300, "pairwise"}, {200, "slots"}},
                          {{by_allgather, 64}, 4, {800, "pairwise"}, {200, "slots"}},
                          {{splitting, 256}, 3, {210, "pipelined"}, {100, "inline"}}};
  return explained;
}

std::string text_of(const GuidelinesExplained& explained, bool all, int columns = 80) {
  Console console;
  console.columns = columns;
  return explain_guidelines_text(explained, all, console);
}

// Returns the text with single spaces.
std::string in_one_line(const std::string& text) {
  std::istringstream in(text);
  std::string all;
  for (std::string word; in >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

TEST(ExplainGuidelinesText, SummarizesEachGuideline) {
  const std::string text = in_one_line(text_of(planted(), false));
  EXPECT_THAT(text, HasSubstr("violated points ranks sizes worst at"));
  EXPECT_THAT(text, HasSubstr("gather(n) <= allgather(n) 2 2-4 8-64 4.00 64 on 4"));
  EXPECT_THAT(text, HasSubstr("bcast(2n) <= 2 bcast(n) 1 3 256 2.10 256 on 3"));
  EXPECT_THAT(text, HasSubstr("3 of 100 points violated"));
  EXPECT_THAT(text, Not(HasSubstr("without a prediction")));
}

TEST(ExplainGuidelinesText, ListsEveryViolationIfRequested) {
  const std::string text = in_one_line(text_of(planted(), true));
  EXPECT_THAT(text, HasSubstr("gather(n) <= allgather(n): pairwise; slots 2 8 300 ns 200 ns 1.50"));
  EXPECT_THAT(text, HasSubstr("slots 4 64 800 ns 200 ns 4.00"));
}

TEST(ExplainGuidelinesText, ReportsPointsWithoutAPrediction) {
  GuidelinesExplained partial = planted();
  partial.unknown = 2;
  partial.violations.clear();
  const std::string text = in_one_line(text_of(partial, false));
  EXPECT_THAT(text, HasSubstr("0 of 100 points violated"));
  EXPECT_THAT(text, HasSubstr("2 more points without a prediction"));
  EXPECT_THAT(text, Not(HasSubstr("worst")));
}

TEST(ExplainGuidelinesText, FitsIntoTheTerminal) {
  for (const bool all : {false, true}) {
    std::istringstream lines(text_of(planted(), all, 72));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 72U) << line;
  }
}

TEST(ExplainGuidelinesJson, HasEveryViolation) {
  const json all = json::parse(explain_guidelines_json(planted()));
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["command"], "explain");
  EXPECT_EQ(all["what"], "guidelines");
  EXPECT_EQ(all["points"], 100);
  EXPECT_EQ(all["ranks"], json::parse("[2,3,4]"));
  ASSERT_EQ(all["violations"].size(), 3U);
  const json& one = all["violations"][1];
  EXPECT_EQ(one["ranks"], 4);
  EXPECT_EQ(one["bytes"], 64);
  EXPECT_EQ(one["ratio"], 4.0);
  EXPECT_EQ(one["mockup"], json::parse(R"({"predicted_ns":200.0,"algorithms":"slots"})"));
}

TEST(GuidelineRanks, ArePowersOfTwoAndTheirMiddlesUpToTheCores) {
  EXPECT_THAT(guideline_ranks(2), ElementsAre(2));
  EXPECT_THAT(guideline_ranks(4), ElementsAre(2, 3, 4));
  EXPECT_THAT(guideline_ranks(20), ElementsAre(2, 3, 4, 6, 8, 12, 16, 20));
  EXPECT_TRUE(guideline_ranks(1).empty());
  EXPECT_EQ(guideline_ranks(1000).back(), 256);
}

TEST(ExplainGuidelines, PredictsSeveralNumbersOfRanks) {
  const Ran ran = Program().run({"explain", "--guidelines", "--synthetic", four_cores, "--json"});
  EXPECT_THAT(ran.status, testing::AnyOf(0, 1)) << ran.err;
  const json all = json::parse(ran.out);
  EXPECT_EQ(all["ranks"], json::parse("[2,3,4]"));
  EXPECT_EQ(all["points"].get<int>() + all["unknown"].get<int>(), 3 * (1 + 40 * 20));
  EXPECT_EQ(ran.status, all["violations"].empty() ? 0 : 1);
}

// Forces an algorithm for gather that needs system calls, so that small gathers violate guidelines
// however good the selection is.
const std::vector<std::string> slow_gather = {
    "64", "-n", "4", "--synthetic", four_cores, "--algo", "gather:pushed"};

Ran run_with_slow_gather(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), slow_gather.begin(), slow_gather.end());
  words.insert(words.end(), more.begin(), more.end());
  return Program().run(words);
}

TEST(ExplainGuidelines, UsesTheTimesThatExplainPrints) {
  const Ran ran = run_with_slow_gather({"explain", "--guidelines", "gather"}, {"--json"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  const Ran gather = run_with_slow_gather({"explain", "gather"}, {"--json"});
  const Ran allgather = run_with_slow_gather({"explain", "allgather"}, {"--json"});
  const json violations = json::parse(ran.out)["violations"];
  const auto found = std::find_if(violations.begin(), violations.end(), [](const json& one) {
    return one["guideline"] == "gather(n) <= allgather(n)";
  });
  ASSERT_NE(found, violations.end()) << ran.out;
  EXPECT_EQ((*found)["call"]["algorithms"], "pushed");
  EXPECT_EQ((*found)["call"]["predicted_ns"], json::parse(gather.out)["chosen"]["predicted_ns"]);
  EXPECT_EQ((*found)["mockup"]["predicted_ns"],
            json::parse(allgather.out)["chosen"]["predicted_ns"]);
}

TEST(ExplainGuidelines, ExitStatusReportsViolationsBeyondTheTolerance) {
  const std::vector<std::string> words = {"explain", "--guidelines", "gather"};
  EXPECT_EQ(run_with_slow_gather(words, {"--tolerance", "5"}).status, 1);
  const Ran tolerant = run_with_slow_gather(words, {"--tolerance", "1000"});
  EXPECT_EQ(tolerant.status, 0);
  EXPECT_THAT(tolerant.out, HasSubstr("0 of 5 points violated"));
}

// Predictions of v-forms lack the lower bound by memory, because only two ranks know each size.
TEST(ExplainGuidelines, LowerBoundByMemoryAppliesToVFormsAsWell) {
  const std::string machine = HUDDLE_SOURCE_DIR "/machines/xeon-e5620-2s.toml";
  const Ran ran =
      Program().run({"explain", "--guidelines", "alltoall", "4M", "-n", "4", "--machine", machine});
  EXPECT_THAT(ran.out, HasSubstr("of 3 points violated"));
  EXPECT_THAT(ran.out, Not(HasSubstr("alltoallv")));
}

TEST(ExplainGuidelines, RefusesConflictingOptions) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"explain", "--guidelines", "gatherv"},
           {"explain", "--guidelines", "gather", "7"},
           {"explain", "--guidelines", "-n", "1"},
           {"explain", "--guidelines", "--nodes", "2"},
           {"explain", "--guidelines", "--simulate"},
           {"explain", "bcast", "8", "--tolerance", "3"},
           {"explain", "--guidelines", "--synthetic", "core:1 pu:1"}}) {
    const Ran ran = Program().run(words);
    EXPECT_EQ(ran.status, 2) << words.back() << ran.out;
  }
}

}  // namespace
}  // namespace huddle::cli
