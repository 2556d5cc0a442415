// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/other_processes.h"

#include <gtest/gtest.h>

#include "scratch.h"

namespace huddle {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds long_enough{20000};

TEST(RunProgram, ReturnsBothStreams) {
  const auto output = run_program({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, long_enough);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->text, "out\nerr\n");
  EXPECT_FALSE(output->too_slow);
}

TEST(RunProgram, ProgramHasNoInput) {
  const auto output = run_program({"/bin/cat"}, long_enough);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->text, "");
  EXPECT_FALSE(output->too_slow);
}

TEST(RunProgram, SaysWhenThereIsNoSuchProgram) {
  EXPECT_EQ(run_program({"/no/such/program"}, long_enough), std::nullopt);
}

TEST(RunProgram, KillsASlowProgramAndItsChildren) {
  const auto start = std::chrono::steady_clock::now();
  const auto output =
      run_program({"/bin/sh", "-c", "echo begun; sleep 600 & wait"}, milliseconds(200));
  ASSERT_TRUE(output.has_value());
  EXPECT_TRUE(output->too_slow);
  EXPECT_EQ(output->text, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, long_enough);
}

TEST(RunProgram, TruncatesLongOutput) {
  const auto output = run_program({"/bin/sh", "-c", "head -c 1000000 /dev/zero"}, long_enough);
  ASSERT_TRUE(output.has_value());
  EXPECT_LE(output->text.size(), 128U * 1024);
  EXPECT_GE(output->text.size(), 64U * 1024);
  EXPECT_FALSE(output->too_slow) << "it must not be stopped by a full pipe";
}

}  // namespace
}  // namespace huddle
