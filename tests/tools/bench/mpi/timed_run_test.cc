// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/timed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "common/error.h"
#include "stand_in.h"

namespace huddle::bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TimedRunTest : public testing::Test {
 protected:
  Spawned script(const std::string& lines) const {
    const std::string path = stand_in_.script("program", lines);
    return {.program = path, .words = {"program", "a word"}, .environment = {"SAID=this"}};
  }

  StandIn stand_in_;
  std::atomic<bool> stop_{false};
};

TEST_F(TimedRunTest, ReturnsStatusAndOutput) {
  const TimedRun run = timed_run(script("echo \"$1 $SAID\"; echo wrong >&2; exit 3"), stop_);
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.output, "a word this\nwrong\n");
  EXPECT_GT(run.wall_seconds, 0);
}

TEST_F(TimedRunTest, ReportsASignalAsAShellDoes) {
  EXPECT_EQ(timed_run(script("kill -9 $$"), stop_).status, 137);
}

TEST_F(TimedRunTest, CountsTheCpuTimeOfChildren) {
  const std::string loop = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
  const double alone = timed_run(script("exit 0"), stop_).cpu_seconds;
  EXPECT_GT(timed_run(script("sh -c '" + loop + "'"), stop_).cpu_seconds, alone);
}

TEST_F(TimedRunTest, KeepsTheEndOfALongOutput) {
  const TimedRun run = timed_run(
      script("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i + 1)); done; echo end"),
      stop_);
  EXPECT_THAT(run.output, EndsWith("0123456789\nend\n"));
  EXPECT_LE(run.output.size(), 64U * 1024);
}

TEST_F(TimedRunTest, DoesNotWaitForBackgroundProcesses) {
  const TimedRun run = timed_run(script("sleep 60 & echo $!"), stop_);
  EXPECT_EQ(run.status, 0);
  EXPECT_LT(run.wall_seconds, 60);
  EXPECT_EQ(::kill(std::stoi(run.output), SIGKILL), 0) << "it goes on";
}

TEST_F(TimedRunTest, EndsTheProgramOnAStopRequest) {
  stop_ = true;
  EXPECT_THROW(timed_run(script("exec sleep 1000"), stop_), Stopped);
}

TEST_F(TimedRunTest, NamesTheProgramThatCannotBeStarted) {
  const Spawned nothing{.program = "/no/such", .words = {"such"}, .environment = {}};
  EXPECT_THAT([&] { timed_run(nothing, stop_); },
              ThrowsMessage<FailureError>(HasSubstr("cannot start /no/such")));
}

// Two turns on a machine with four hardware threads. The runs last 2 s and use 3 s of CPU time.
WholeRuns two_turns(double machine_seconds, double stolen_seconds) {
  WholeRuns runs;
  runs.pus = 4;
  for (SideRuns& side : runs.sides) {
    side.wall_seconds = {2, 2};
    side.cpu_seconds = {3, 3};
    side.machine_seconds = {machine_seconds, machine_seconds};
    side.stolen_seconds = {stolen_seconds, stolen_seconds};
  }
  return runs;
}

TEST(Load, IsWhatTheRunsDidNotUse) {
  const auto quiet = two_turns(3.1, 0).load();
  ASSERT_TRUE(quiet);
  EXPECT_EQ(quiet->pus, 4);
  EXPECT_NEAR(quiet->others, 0.05, 1e-9);
  EXPECT_FALSE(quiet->is_busy) << "0.1 s of interrupts on 1.5 hardware threads";
  EXPECT_TRUE(two_turns(5, 0).load()->is_busy);
  EXPECT_NEAR(two_turns(3, 0.5).load()->stolen, 0.25, 1e-9);
  EXPECT_TRUE(two_turns(3, 0.5).load()->is_busy);
  EXPECT_EQ(two_turns(2, 0).load()->others, 0) << "ticks of the kernel are not exact";
}

TEST(Load, IsUnknownWithoutCountersOrInShortRuns) {
  WholeRuns runs = two_turns(3, 0);
  runs.sides.front().machine_seconds.clear();
  EXPECT_FALSE(runs.load());
  runs = two_turns(0.01, 0);
  for (SideRuns& side : runs.sides) side.wall_seconds = {0.01, 0.01};
  EXPECT_FALSE(runs.load()) << "one tick of 10 ms would look like load";
}

class CountedRounds : public RunWatcher {
 public:
  void begin(Side, std::size_t) override {}
  void end_round(const WholeRuns& runs) override { rounds.push_back(runs.rounds()); }
  std::vector<std::size_t> rounds = {};
};

TEST_F(TimedRunTest, ReportsEachCompleteRoundAndTheTimesOfTheMachine) {
  CountedRounds watcher;
  const WholeRuns runs = compare_whole_runs(script("exit 0"), script("exit 0"), 3, watcher, stop_);
  EXPECT_EQ(watcher.rounds, (std::vector<std::size_t>{1, 2, 3}));
  for (const SideRuns& side : runs.sides) EXPECT_EQ(side.machine_seconds.size(), 3U);
  EXPECT_GT(runs.pus, 0);
}

}  // namespace
}  // namespace huddle::bench
