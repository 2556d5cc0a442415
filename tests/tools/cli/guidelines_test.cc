// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/text.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "program.h"
#include "tools/cli/bench/guidelines_report.h"

namespace huddle::cli {
namespace {

using bench::GuidelineVerdict;
using bench::Side;
using nlohmann::json;
using select::Operation;
using testing::HasSubstr;
using testing::Not;

// Returns a finding with an interval of 10 % to each side.
bench::GuidelineSide finding(double call_ns, double mockup_ns, GuidelineVerdict verdict) {
  const double ratio = call_ns / mockup_ns;
  bench::GuidelineSide side{.samples = {{{call_ns}}, {{mockup_ns}}},
                            .estimate = {ratio, ratio * 0.9, ratio * 1.1, 12, true},
                            .call_ns = call_ns,
                            .mockup_ns = mockup_ns,
                            .verdict = verdict};
  if (verdict == GuidelineVerdict::violated) side.again = side.estimate;
  return side;
}

// huddle violates one guideline at 64K, the MPI another one at both sizes.
GuidelinesReport sample_report() {
  const bench::Guideline by_allgather{.operation = Operation::gather,
                                      .mockup = bench::Mockup::gather_by_allgather};
  const bench::Guideline by_parts{.operation = Operation::allreduce,
                                  .mockup = bench::Mockup::allreduce_by_scattered_allgather};
  using enum GuidelineVerdict;
  GuidelinesReport report;
  report.measured.mpi = "Open MPI 4.1.4";
  report.measured.results = {
      {{by_allgather, 8}, {finding(100, 200, holds), finding(50, 100, holds)}},
      {{by_allgather, 65536}, {finding(100, 100, open), finding(3000, 1000, violated)}},
      {{by_parts, 8}, {finding(400, 200, violated), finding(50, 100, holds)}},
      {{by_parts, 65536}, {finding(600, 200, violated), finding(50, 100, holds)}}};
  for (const auto& result : report.measured.results) report.points.push_back(result.point);
  report.machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 l3:1 core:2 pu:1").topology);
  report.machine.name = "a machine";
  return report;
}

// Returns the text with single spaces.
std::string squeezed(const std::string& text) {
  std::istringstream in(text);
  std::string all;
  for (std::string word; in >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

TEST(GuidelinesText, SummarizesEachGuidelineOverItsSizes) {
  const std::string text = squeezed(guidelines_text(sample_report(), 100));
  EXPECT_THAT(text, HasSubstr("guideline MPI violated open huddle violated open"));
  EXPECT_THAT(text, HasSubstr("gather(n) <= allgather(n) 1.00 0 1 3.00 1 0"));
  EXPECT_THAT(text, HasSubstr("allgather(n/p) 3.00 2 0 0.50 0 0"));
  EXPECT_THAT(text, HasSubstr("Open MPI 4.1.4"));
  EXPECT_THAT(text, HasSubstr("lies above 1.05 in two"));
  EXPECT_THAT(text, HasSubstr("huddle violates 1 of 4 points, the MPI 2; 0 and 1 are open."));
}

TEST(GuidelinesText, ListsViolationsOnly) {
  const std::string text = guidelines_text(sample_report(), 100);
  const std::string list = squeezed(text.substr(text.find("\nviolated   ")));
  EXPECT_THAT(list, HasSubstr("gather(n) <= allgather(n) huddle 64K 3 us 1 us 3.00 2.70-3.30"));
  EXPECT_THAT(list, HasSubstr("MPI 64K 600 ns 200 ns 3.00"));
  EXPECT_THAT(list, Not(HasSubstr("gather(n) <= allgather(n) MPI")));
  GuidelinesReport clean = sample_report();
  for (auto& result : clean.measured.results) {
    for (auto& one : result.sides) one.verdict = GuidelineVerdict::holds;
  }
  EXPECT_THAT(guidelines_text(clean, 100), Not(HasSubstr("\nviolated   ")));
}

TEST(GuidelinesText, MarksViolationsWithCallsThatFellBackToTheMpi) {
  GuidelinesReport passed = sample_report();
  EXPECT_THAT(guidelines_text(passed, 100), Not(HasSubstr("fell back")));
  passed.measured.results[1].of(Side::huddle).passed = 3;
  EXPECT_THAT(guidelines_text(passed, 100),
              HasSubstr("= calls of huddle fell back to the MPI, at 1 point"));
}

TEST(GuidelinesText, FitsIntoTheTerminal) {
  for (const int columns : {60, 80}) {
    std::istringstream lines(guidelines_text(sample_report(), columns));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
    }
  }
}

TEST(GuidelinesJson, HasEverySampleAndVerdict) {
  const json all = json::parse(guidelines_json(sample_report()));
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["command"], "bench");
  EXPECT_EQ(all["what"], "guidelines");
  EXPECT_EQ(all["violated"], json::parse(R"({"native":2,"huddle":1})"));
  EXPECT_EQ(all["open"], json::parse(R"({"native":1,"huddle":0})"));
  EXPECT_EQ(all["settings"]["tolerance"], 0.05);
  ASSERT_EQ(all["points"].size(), 4U);
  const json& point = all["points"][1];
  EXPECT_EQ(point["guideline"], "gather(n) <= allgather(n)");
  EXPECT_EQ(point["bytes"], 65536);
  EXPECT_EQ(point["huddle"]["verdict"], "violated");
  EXPECT_EQ(point["huddle"]["call_batches_ns"], json::parse("[[3000.0]]"));
  EXPECT_EQ(point["huddle"]["again"]["ratio"], 3.0);
  EXPECT_EQ(point["native"]["verdict"], "open");
  EXPECT_FALSE(point["native"].contains("again"));
}

TEST(BenchGuidelines, DryRunListsThemWithoutAnMpi) {
  const Ran ran =
      Program().environment("PATH=/nowhere").run({"bench", "--guidelines", "--dry-run"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("barrier <= allreduce(8)\n"));
  EXPECT_THAT(ran.out, HasSubstr("scan(n) <= exscan(n) + local(n)\n"));
  EXPECT_THAT(ran.out, HasSubstr("41 guidelines at 161 points"));
}

TEST(BenchGuidelines, DryRunUsesTheExistingOptions) {
  const Ran ran = Program().run({"bench", "--guidelines", "--dry-run", "--ops", "scatter",
                                 "--sizes", "8:128:4", "-n", "5", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json all = json::parse(ran.out);
  EXPECT_EQ(all["dry_run"], true);
  EXPECT_EQ(all["ranks"], 5);
  EXPECT_EQ(all["points"].size(), 4U * 3);
  EXPECT_EQ(all["points"][0]["guideline"], "scatter(n) <= bcast(pn) + local(n)");
  EXPECT_FALSE(all.contains("violated"));
}

TEST(BenchGuidelines, RefusesConflictingOptions) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"bench", "--dry-run"},
           {"bench", "--tolerance", "3"},
           {"bench", "--guidelines", "--cold"},
           {"bench", "--guidelines", "--peers", "/nowhere"},
           {"bench", "--guidelines", "--tolerance", "-1"},
           {"bench", "--guidelines", "--dry-run", "--ops", "gatherv"},
           {"bench", "--guidelines", "--dry-run", "--ops", "alltoall", "--sizes", "512M"}}) {
    EXPECT_EQ(Program().run(words).status, 2) << words.back();
  }
}

TEST(BenchGuidelines, HelpExplainsTheExitStatus) {
  const Ran ran = Program().run({"bench", "--help"});
  EXPECT_THAT(ran.out, HasSubstr("--guidelines"));
  EXPECT_THAT(ran.out, HasSubstr("--tolerance PERCENT"));
  EXPECT_THAT(ran.out, HasSubstr("if huddle violates a guideline"));
}

}  // namespace
}  // namespace huddle::cli
