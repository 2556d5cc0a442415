// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/timed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

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

}  // namespace
}  // namespace huddle::bench
