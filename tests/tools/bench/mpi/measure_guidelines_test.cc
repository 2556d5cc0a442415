// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/measure_guidelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "stand_in.h"

namespace huddle::bench {
namespace {

using select::Operation;

const std::atomic<bool> no_stop{false};

// The words of an order in a stand-in's script.
constexpr const char* answer_once = "side=native; [ $8 = 1 ] && side=huddle; shift 11; mockup=$1; ";

GuidelinePlan plan_with(const Mpi& mpi, const Guideline& guideline) {
  return {.mpi = mpi,
          .job_options = {},
          .points = {{guideline, 64}},
          .effort = {.point_seconds = 20, .half_width = 0.05}};
}

class NoWatcher : public GuidelineWatcher {
  void begin(const GuidelinePoint&, std::size_t) override {}
};

GuidelineReport measured(const GuidelinePlan& plan) {
  NoWatcher watcher;
  return measure_guidelines(plan, watcher, no_stop);
}

const Guideline by_reduce = {.operation = Operation::gather, .mockup = Mockup::gather_by_reduce};

// The MPI's gather takes twice as long as its mock-up, huddle's half as long.
TEST(MeasureGuidelines, FindsThePlantedViolation) {
  const StandIn scripts;
  const Mpi mpi = scripts.job("planted", std::string(answer_once) +
                                             "ns=1600; [ $mockup = 0 ] && ns=3200; "
                                             "[ $side$mockup = huddle0 ] && ns=800\n"
                                             "echo \"huddle-bench: batch $side $ns $ns\"");
  const GuidelineReport report = measured(plan_with(mpi, by_reduce));
  ASSERT_EQ(report.results.size(), 1U);
  const GuidelineSide& native = report.results[0].of(Side::native);
  const GuidelineSide& huddle = report.results[0].of(Side::huddle);
  EXPECT_EQ(native.verdict, GuidelineVerdict::violated);
  EXPECT_DOUBLE_EQ(native.estimate.ratio, 2);
  ASSERT_TRUE(native.again.has_value());
  EXPECT_DOUBLE_EQ(native.again->ratio, 2);
  EXPECT_EQ(huddle.verdict, GuidelineVerdict::holds);
  EXPECT_DOUBLE_EQ(huddle.estimate.ratio, 0.5);
  EXPECT_FALSE(huddle.again.has_value());
  EXPECT_EQ(report.count(Side::native, GuidelineVerdict::violated), 1U);
  EXPECT_EQ(report.count(Side::huddle, GuidelineVerdict::violated), 0U);
  EXPECT_EQ(report.version, "planted 1.0");
}

// Times of 2n bytes are multiplied by 1.5, which violates neither monotony nor splitting.
TEST(MeasureGuidelines, ScalesSizesAndRepetitions) {
  const StandIn scripts;
  const Mpi mpi = scripts.job("planted", std::string("bytes=$2; ") + answer_once +
                                             "ns=1000; [ $bytes = 128 ] && ns=1500\n"
                                             "echo \"huddle-bench: batch $side $ns\"");
  const Guideline monotony = {.operation = Operation::bcast, .mockup_scale = 2};
  const Guideline splitting = {.operation = Operation::bcast, .call_scale = 2, .repetitions = 2};
  const auto monotonous = measured(plan_with(mpi, monotony)).results[0].of(Side::huddle);
  EXPECT_DOUBLE_EQ(monotonous.estimate.ratio, 1000 / 1500.0);
  EXPECT_EQ(monotonous.verdict, GuidelineVerdict::holds);
  const auto split = measured(plan_with(mpi, splitting)).results[0].of(Side::huddle);
  EXPECT_DOUBLE_EQ(split.estimate.ratio, 1500 / 2000.0);
}

// Short calls are timed in series, in which successive calls overlap, and longer ones alone.
TEST(MeasureGuidelines, BothSizesAreTimedInSeriesOfEqualLength) {
  const StandIn scripts;
  const std::string log = scripts.file("calls");
  const Mpi mpi = scripts.job("logged", std::string("echo $2 $3 >>") + log + "; " + answer_once +
                                            "echo \"huddle-bench: batch $side 1000\"");
  GuidelinePlan plan = plan_with(mpi, {.operation = Operation::bcast, .mockup_scale = 2});
  plan.points[0].bytes = 1024;
  measured(plan);
  std::ifstream in(log);
  std::string line;
  std::getline(in, line);
  std::set<std::string> sizes_and_calls;
  while (std::getline(in, line)) sizes_and_calls.insert(line);
  EXPECT_EQ(sizes_and_calls, (std::set<std::string>{"1024 1", "2048 1"}));
}

// The second measurement of the call takes less time than its mock-up.
TEST(MeasureGuidelines, DropsAViolationThatIsNotFoundAgain) {
  const StandIn scripts;
  const Mpi mpi =
      scripts.job("once", std::string(answer_once) +
                              // Each round has four orders; the first follows one warm-up round.
                              "n=$((n + 1)); ns=1600; [ $mockup = 0 ] && ns=800; "
                              "[ $mockup = 0 ] && [ $n -le 36 ] && ns=3200\n"
                              "echo \"huddle-bench: batch $side $ns\"");
  const auto side = measured(plan_with(mpi, by_reduce)).results[0].of(Side::huddle);
  EXPECT_GT(side.estimate.low, 1.05);
  ASSERT_TRUE(side.again.has_value());
  EXPECT_LT(side.again->high, 1);
  EXPECT_EQ(side.verdict, GuidelineVerdict::open);
}

TEST(MeasureGuidelines, CountsCallsThatFellBackToTheMpi) {
  const StandIn scripts;
  const Mpi mpi = scripts.job("passing", std::string(answer_once) +
                                             "echo \"huddle-bench: batch $side 1000\"\n"
                                             "[ $side = huddle ] && echo 'huddle-bench: passed 2'");
  const GuidelineResult result = measured(plan_with(mpi, by_reduce)).results[0];
  EXPECT_GE(result.of(Side::huddle).passed, 4U);
  EXPECT_EQ(result.of(Side::native).passed, 0U);
}

// Returns the orders of each round after the warm-up as "side mockup" words.
TEST(MeasureGuidelines, OrderOfTurnsIsRandom) {
  const StandIn scripts;
  const std::string log = scripts.file("turns");
  const Mpi mpi = scripts.job("logged", std::string(answer_once) + "echo $side$mockup >>" + log +
                                            "\necho \"huddle-bench: batch $side 1000\"");
  measured(plan_with(mpi, by_reduce));
  std::ifstream in(log);
  std::string line;
  std::getline(in, line);
  std::set<std::string> first_of_round;
  for (int turn = 0; std::getline(in, line); ++turn) {
    if (turn >= 4 && turn % 4 == 0) first_of_round.insert(line);
  }
  EXPECT_GE(first_of_round.size(), 2U);
}

TEST(MeasureGuidelines, ReturnsCompletePointsIfStopped) {
  const StandIn scripts;
  const std::atomic<bool> stop{true};
  const Mpi mpi = scripts.job("slow", "sleep 60");
  NoWatcher watcher;
  EXPECT_TRUE(measure_guidelines(plan_with(mpi, by_reduce), watcher, stop).interrupted);
}

}  // namespace
}  // namespace huddle::bench
