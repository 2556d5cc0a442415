// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "tools/cli/bench/bench_report.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using select::Operation;
using testing::HasSubstr;
using testing::Not;

bench::PointResult result(const bench::Point& point, double native_ns, double huddle_ns) {
  const double ratio = native_ns / huddle_ns;
  return {.point = point,
          .calls = 16,
          .rival = "mpich-5",
          .samples = {{{native_ns, native_ns}}, {{huddle_ns, huddle_ns}}},
          .estimate = {ratio, ratio - 0.01, ratio + 0.01, 9, true},
          .native_ns = native_ns,
          .huddle_ns = huddle_ns,
          .stable = true};
}

MpiBenchReport report() {
  MpiBenchReport report;
  report.measured.mpis.emplace_back().name = "mpich-5";
  report.measured.versions = {"MPICH 5.0.2, made on a Monday"};
  report.measured.results = {result({Operation::bcast, 8}, 200, 100),
                             result({Operation::bcast, 65536}, 800, 1600)};
  report.machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 l3:1 core:2 pu:1").topology);
  report.machine.name = "a machine";
  return report;
}

std::string line_of(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("\n  " + begin);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(BenchMpi, LineHasBothTimesTheirRatioAndItsInterval) {
  const std::string text = bench_mpi_text(report(), 80);
  const std::string line = line_of(text, "8 ");
  EXPECT_THAT(line, HasSubstr("200 ns"));
  EXPECT_THAT(line, HasSubstr("100 ns"));
  EXPECT_THAT(line, HasSubstr("2.00  1.99-2.01"));
  EXPECT_THAT(text, HasSubstr("geometric mean of the ratios: 1.00"));
  EXPECT_THAT(text, HasSubstr("huddle under MPICH 5.0.2;"));
  EXPECT_THAT(text, Not(HasSubstr("best")));
}

TEST(BenchMpi, MarksUnsteadyAndPassedAndSlowPoints) {
  MpiBenchReport marked = report();
  auto& results = marked.measured.results;
  EXPECT_THAT(bench_mpi_text(marked, 80), Not(HasSubstr("~ unsteady")));
  results[0].stable = false;
  results[0].passed = 3;
  results[1].again.assign(5, results[1].estimate);
  const std::string text = bench_mpi_text(marked, 80);
  EXPECT_THAT(line_of(text, "8 "), HasSubstr("~="));
  EXPECT_THAT(line_of(text, "64K "), HasSubstr("!"));
  EXPECT_THAT(text, HasSubstr("~ unsteady"));
  EXPECT_THAT(text, HasSubstr("= the MPI ran the calls"));
  EXPECT_TRUE(marked.misses_bar());
  // One repetition that is not entirely below the bar is enough.
  results[1].again.back().high = 0.95;
  EXPECT_FALSE(marked.misses_bar());
}

TEST(BenchMpi, NamesTheBestOfSeveralMpis) {
  MpiBenchReport several = report();
  several.measured.mpis.emplace_back().name = "intel";
  several.measured.versions.emplace_back("Intel(R) MPI Library 2021.18");
  const std::string text = bench_mpi_text(several, 80);
  EXPECT_THAT(line_of(text, "8 "), HasSubstr("mpich-5"));
  EXPECT_THAT(text, HasSubstr("  intel: Intel(R) MPI Library 2021.18\n"));
}

TEST(BenchMpi, JsonHasEverySample) {
  const json all = json::parse(bench_mpi_json(report()));
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["what"], "mpi");
  EXPECT_EQ(all["under"], "mpich-5");
  EXPECT_EQ(all["mpis"][0]["version"], "MPICH 5.0.2, made on a Monday");
  EXPECT_EQ(all["settings"]["confidence"], 0.95);
  ASSERT_EQ(all["points"].size(), 2U);
  const json& point = all["points"][1];
  EXPECT_EQ(point["operation"], "bcast");
  EXPECT_EQ(point["bytes"], 65536);
  EXPECT_EQ(point["native_batches_ns"], json::parse("[[800.0, 800.0]]"));
  EXPECT_EQ(point["below_bar"], true);
}

TEST(BenchMpi, JsonDescribesTheMachineAndEachChoice) {
  MpiBenchReport explained = report();
  explained.measured.results[0].choices = {{120, "inline", "flat"}, {300.5, "pipelined", "chain"}};
  explained.floor_ns = {50, 400};
  explained.seconds = 60;
  const json all = json::parse(bench_mpi_json(explained));
  EXPECT_EQ(all["machine_model"]["topology"]["cores"], 2);
  EXPECT_EQ(all["settings"]["seconds"], 60);
  const json& choice = all["points"][0]["choice"];
  EXPECT_EQ(choice["algorithm"], "inline");
  EXPECT_EQ(choice["predicted_ns"], 120);
  ASSERT_EQ(choice["others"].size(), 1U);
  EXPECT_EQ(choice["others"][0]["parameters"], "chain");
  EXPECT_EQ(all["points"][0]["floor_ns"], 50);
  EXPECT_EQ(all["points"][1]["floor_ns"], 400);
  EXPECT_FALSE(all["points"][1].contains("choice"));
}

TEST(BenchMpi, ReportsThePredictionError) {
  MpiBenchReport predicted = report();
  EXPECT_THAT(bench_mpi_text(predicted, 80), Not(HasSubstr("predictions")));
  auto& results = predicted.measured.results;
  results[0].choices = {{150, "inline", "flat"}};       // measured: 100
  results[1].choices = {{4800, "pipelined", "chain"}};  // measured: 1600
  const std::string text = bench_mpi_text(predicted, 200);
  EXPECT_THAT(line_of(text, "8 "), Not(HasSubstr("?")));
  EXPECT_THAT(line_of(text, "64K "), HasSubstr("?"));
  EXPECT_THAT(text,
              HasSubstr("differ by a factor of 2.25 in the median of 2 points; 1 point marked ?"));
  const json all = json::parse(bench_mpi_json(predicted));
  EXPECT_EQ(all["model_error"], json::parse(R"({"points":2,"median_times_off":2.25,
                                                "mispredicted":1,"mispredicted_from":2.0})"));
  EXPECT_EQ(all["points"][1]["times_off"], 3);
}

TEST(BenchMpi, IgnoresPredictionsForCallsThatFellBackToTheMpi) {
  MpiBenchReport passed = report();
  passed.measured.results[0].choices = {{1500, "inline", "flat"}};
  passed.measured.results[0].passed = 1;
  EXPECT_EQ(passed.prediction_error().points, 0U);
  EXPECT_FALSE(json::parse(bench_mpi_json(passed)).contains("model_error"));
}

TEST(BenchMpi, ReportsWhereTheBuffersAre) {
  MpiBenchReport heap = report();
  EXPECT_THAT(bench_mpi_text(heap, 200), HasSubstr("buffers in private memory (heap off)"));
  heap.in_heap = true;
  EXPECT_THAT(bench_mpi_text(heap, 200), HasSubstr("buffers in the shared heap (heap on)"));
}

TEST(BenchMpi, ReportsTheTiming) {
  MpiBenchReport timed = report();
  EXPECT_THAT(bench_mpi_text(timed, 200),
              HasSubstr("from when the last rank enters a call until the last rank leaves it"));
  EXPECT_EQ(json::parse(bench_mpi_json(timed))["settings"]["timing"], "apart");
  timed.timing = bench::Timing::osu;
  EXPECT_THAT(bench_mpi_text(timed, 200), HasSubstr("like in the OSU micro-benchmarks"));
  EXPECT_EQ(json::parse(bench_mpi_json(timed))["settings"]["timing"], "osu");
  EXPECT_FALSE(json::parse(bench_mpi_json(timed))["settings"].contains("cold_calls"));
  timed.timing = bench::Timing::cold;
  EXPECT_THAT(bench_mpi_text(timed, 200), HasSubstr("the first call of new processes"));
  timed.cold_calls = 10;
  EXPECT_THAT(bench_mpi_text(timed, 200), HasSubstr("the first 10 calls"));
  EXPECT_EQ(json::parse(bench_mpi_json(timed))["settings"]["cold_calls"], 10);
}

TEST(BenchMpi, JsonHasTheOptionsForRepeatingTheMeasurement) {
  MpiBenchReport again = report();
  again.machine_file = "node.toml";
  again.mpi = "/opt/mpi/bin/mpiexec --bind-to core";
  again.mpi_library = "/opt/mpi/lib/libmpi.so.12";
  const json all = json::parse(bench_mpi_json(again));
  EXPECT_EQ(all["machine_file"], "node.toml");
  EXPECT_EQ(all["settings"]["mpi"], "/opt/mpi/bin/mpiexec --bind-to core");
  EXPECT_EQ(all["settings"]["mpi_library"], "/opt/mpi/lib/libmpi.so.12");
  EXPECT_FALSE(all["settings"].contains("peers"));
}

TEST(BenchMpi, JsonOmitsUnknownValues) {
  const json all = json::parse(bench_mpi_json(report()));
  EXPECT_FALSE(all["settings"].contains("mpi"));
  EXPECT_FALSE(all["points"][0].contains("times_off"));
  EXPECT_FALSE(all["points"][0].contains("floor_ns"));
  EXPECT_FALSE(all["settings"].contains("seconds"));
}

}  // namespace
}  // namespace huddle::cli
