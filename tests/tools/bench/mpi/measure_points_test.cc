// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/measure_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "stand_in.h"

namespace huddle::bench {
namespace {

using testing::HasSubstr;

struct Silent : PointWatcher {
  void begin(const Point& /*point*/, std::size_t /*number*/) override {}
};

// Answers with batches of approximately these times for the requested sides.
std::string taking(int native_ns, int huddle_ns) {
  const std::string batch =
      "echo \"huddle-bench: batch %s $((%d + r % 3)) $((%d + r % 5)) $((%d + r % 2))\"";
  const auto of = [&](const std::string& side, int ns) {
    std::string line = batch;
    line.replace(line.find("%s"), 2, side);
    for (std::size_t at = line.find("%d"); at != std::string::npos; at = line.find("%d")) {
      line.replace(at, 2, std::to_string(ns));
    }
    return line;
  };
  return "r=0; while [ $r -lt $5 ]; do\nif [ $7 = 1 ]; then " + of("native", native_ns) +
         "; fi\nif [ $8 = 1 ]; then " + of("huddle", huddle_ns) + "; fi\nr=$((r + 1)); done";
}

class BenchTest : public testing::Test {
 protected:
  MpiReport run(std::vector<Mpi> mpis) {
    MpiPlan plan{.mpis = std::move(mpis),
                 .under = under_,
                 .job_options = {.ranks = 2, .programs = stand_in_.folder(), .machine_file = {}},
                 .points = {{Operation::bcast, 64 << 10}, {Operation::allreduce, 8}},
                 .timing = timing_,
                 .cold_calls = 5,
                 .effort = effort_,
                 .is_bounded = is_bounded_};
    return measure_points(plan, silent_, stop_);
  }

  StandIn stand_in_;
  Silent silent_;
  std::size_t under_ = 0;
  Timing timing_ = Timing::apart;
  Effort effort_ = {.point_seconds = 20, .half_width = 0.05};
  bool is_bounded_ = false;
  std::atomic<bool> stop_{false};
};

TEST_F(BenchTest, FindsTheFactorBetweenTheTwoSides) {
  const MpiReport report = run({stand_in_.job("mpi", taking(30000, 20000))});
  ASSERT_EQ(report.results.size(), 2U);
  const PointResult& bcast = report.results[0];
  EXPECT_NEAR(bcast.estimate.ratio, 1.5, 0.01);
  EXPECT_TRUE(bcast.stable);
  EXPECT_GE(bcast.estimate.batches, 8U);
  EXPECT_EQ(bcast.samples.native_ns.size(), bcast.samples.huddle_ns.size());
  EXPECT_NEAR(bcast.native_ns, 30000, 10);
  EXPECT_TRUE(bcast.again.empty());
  EXPECT_FALSE(bcast.below_bar());
  // Short calls are timed in series; the result is the time of one call.
  const PointResult& allreduce = report.results[1];
  EXPECT_GT(allreduce.calls, 1);
  EXPECT_NEAR(allreduce.native_ns, 30000.0 / allreduce.calls, 10);
}

TEST_F(BenchTest, OsuLoopsAreLong) {
  timing_ = Timing::osu;
  const MpiReport report = run({stand_in_.job("mpi", taking(3000000, 2000000))});
  ASSERT_EQ(report.results.size(), 2U);
  for (const PointResult& one : report.results) {
    EXPECT_GE(one.calls, 10);
    EXPECT_NEAR(one.native_ns, 3000000.0 / one.calls, 1);
    EXPECT_NEAR(one.estimate.ratio, 1.5, 0.01);
  }
}

// Each order gets a separate job, whose arguments say whether huddle is in it.
TEST_F(BenchTest, ComparesStartsWithStarts) {
  timing_ = Timing::cold;
  const std::string started = stand_in_.folder() + "/started";
  Mpi mpi = stand_in_.job("mpi", taking(30000, 20000));
  mpi.launcher = {stand_in_.script(
      "launcher", "echo \"$5\" >> " + started + "\nexec " + mpi.launcher.front() + "\n")};
  const MpiReport report = run({mpi});
  ASSERT_EQ(report.results.size(), 2U);
  std::size_t batches = 0;
  for (const PointResult& one : report.results) {
    EXPECT_EQ(one.calls, 5);
    EXPECT_NEAR(one.estimate.ratio, 1.5, 0.01);
    EXPECT_NEAR(one.huddle_ns, 20000.0 / 5, 1);
    batches += one.estimate.batches;
  }
  std::ifstream lines(started);
  std::size_t alone = 0;
  std::size_t with_huddle = 0;
  for (std::string line; std::getline(lines, line);) ++(line == no_back_end ? alone : with_huddle);
  EXPECT_EQ(alone, batches);
  EXPECT_EQ(with_huddle, batches + 1);  // including the one that reports the MPI's version
}

TEST_F(BenchTest, ComparesWithTheBestOfSeveral) {
  under_ = 2;
  const MpiReport report =
      run({stand_in_.job("slow", taking(90000, 1)), stand_in_.job("best", taking(24000, 1)),
           stand_in_.job("host", taking(30000, 20000))});
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[0].rival, "best");
  EXPECT_NEAR(report.results[0].estimate.ratio, 1.2, 0.01);
  EXPECT_NEAR(report.results[0].selection_ns[0], 90000, 10);
}

TEST_F(BenchTest, RepeatsPointsBelowTheBar) {
  const MpiReport report = run({stand_in_.job("mpi", taking(20000, 30000))});
  EXPECT_EQ(report.results[0].again.size(), 5U);
  EXPECT_TRUE(report.results[0].below_bar());
}

TEST_F(BenchTest, RepeatsNothingOnceTheTimeForAllIsOver) {
  effort_.point_seconds = 0;
  is_bounded_ = true;
  const MpiReport report = run({stand_in_.job("mpi", taking(20000, 30000))});
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_TRUE(report.results[0].below_bar());
  EXPECT_TRUE(report.results[0].again.empty());
}

TEST_F(BenchTest, NotesAPeerThatDoesNotStart) {
  const Mpi broken{.name = "broken",
                   .launcher = {stand_in_.script("broken", "echo no licence\nexit 1\n")},
                   .library = "libmpi.so",
                   .abi = "mpich"};
  under_ = 1;
  const MpiReport report = run({broken, stand_in_.job("mpi", taking(30000, 20000))});
  EXPECT_EQ(report.results.size(), 2U);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0], HasSubstr("no licence"));
  EXPECT_EQ(report.under, 0U);
  EXPECT_EQ(report.mpis[0].name, "mpi");
  under_ = 0;
  EXPECT_THROW(run({broken}), FailureError);
}

struct StopsAtSecond : PointWatcher {
  explicit StopsAtSecond(std::atomic<bool>& stop) : stop_(stop) {}
  void begin(const Point& /*point*/, std::size_t number) override { stop_ = number == 1; }
  std::atomic<bool>& stop_;
};

TEST_F(BenchTest, KeepsCompletePointsOnAStopRequest) {
  StopsAtSecond watcher(stop_);
  const MpiPlan plan{
      .mpis = {stand_in_.job("mpi", taking(30000, 20000))},
      .job_options = {.ranks = 2, .programs = stand_in_.folder(), .machine_file = {}},
      .points = {{Operation::bcast, 8}, {Operation::bcast, 64}},
      .effort = {}};
  const MpiReport report = measure_points(plan, watcher, stop_);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.results.size(), 1U);
}

}  // namespace
}  // namespace huddle::bench
