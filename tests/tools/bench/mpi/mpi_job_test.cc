// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/mpi_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "common/error.h"
#include "stand_in.h"

namespace huddle::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class JobTest : public testing::Test {
 protected:
  StandIn stand_in_;
  std::atomic<bool> stop_{false};
  const JobOptions job_options_{.ranks = 2, .programs = stand_in_.folder(), .machine_file = {}};
};

TEST_F(JobTest, SendsOrdersAndReadsAnswers) {
  Job job(stand_in_.job("Some MPI",
                        "echo noise\n"
                        "echo 'huddle-bench: batch native 10 20'\n"
                        "echo \"huddle-bench: batch huddle $2\"\n"
                        "echo 'huddle-bench: passed 3'"),
          job_options_, stop_);
  EXPECT_EQ(job.version(), "Some MPI 1.0");
  EXPECT_FALSE(job.oversubscribed());
  const Answer answer = job.carry_out({.bytes = 64});
  ASSERT_EQ(answer.batches.size(), 2U);
  EXPECT_EQ(answer.batches[0].side, Side::native);
  EXPECT_THAT(answer.batches[0].ns, ElementsAre(10, 20));
  EXPECT_EQ(answer.batches[1].side, Side::huddle);
  EXPECT_THAT(answer.batches[1].ns, ElementsAre(64));
  EXPECT_EQ(answer.passed, 3U);
  EXPECT_EQ(job.carry_out({}).passed, 3U);
}

TEST_F(JobTest, ReadsHuddlesChoiceAndItsAlternatives) {
  Job job(stand_in_.job("mpi",
                        "echo 'huddle-bench: choice 120.5 slices slices of 128K, plain'\n"
                        "echo 'huddle-bench: choice 300 tree'"),
          job_options_, stop_);
  const Answer answer = job.carry_out({.explain = true});
  ASSERT_EQ(answer.choices.size(), 2U);
  EXPECT_EQ(answer.choices[0].predicted_ns, 120.5);
  EXPECT_EQ(answer.choices[0].algorithm, "slices");
  EXPECT_EQ(answer.choices[0].parameters, "slices of 128K, plain");
  EXPECT_EQ(answer.choices[1].algorithm, "tree");
  EXPECT_EQ(answer.choices[1].parameters, "");
}

TEST_F(JobTest, WrongDataIsAFailureThatNamesTheSide) {
  Job job(stand_in_.job("mpi", "echo 'huddle-bench: wrong huddle'"), job_options_, stop_);
  EXPECT_THAT(
      ([&] { job.carry_out({.operation = Operation::bcast, .bytes = 8}); }),
      ThrowsMessage<FailureError>(HasSubstr("bcast of 8 bytes in huddle returned wrong data")));
}

TEST_F(JobTest, WrongDataOfAMockupIsAFailureThatNamesWhatItReplaces) {
  Job job(stand_in_.job("mpi", "echo 'huddle-bench: wrong huddle'"), job_options_, stop_);
  const Order mockup{.operation = Operation::scan, .bytes = 8, .mockup = Mockup::scan_by_exscan};
  EXPECT_THAT([&] { job.carry_out(mockup); },
              ThrowsMessage<FailureError>(HasSubstr("a mock-up of scan of 8 bytes in huddle")));
}

TEST_F(JobTest, EarlyEndIsAFailureWithTheLastOutput) {
  const Mpi broken{.name = "broken",
                   .launcher = {stand_in_.script("broken", "echo no slots left >&2\nexit 1\n")},
                   .library = "libmpi.so",
                   .abi = "mpich"};
  EXPECT_THAT(([&] { Job job(broken, job_options_, stop_); }),
              ThrowsMessage<FailureError>(HasSubstr("no slots left")));
}

TEST_F(JobTest, ReportsTheFailureMessageOfARank) {
  const Mpi broken{
      .name = "broken",
      .launcher = {stand_in_.script("broken", "echo 'huddle-bench: failed no libmpi.so'\n")},
      .library = "libmpi.so",
      .abi = "mpich"};
  EXPECT_THAT(([&] { Job job(broken, job_options_, stop_); }),
              ThrowsMessage<FailureError>(HasSubstr("no libmpi.so")));
}

TEST_F(JobTest, FailsAfterDyingBetweenTwoOrders) {
  Job job(stand_in_.job("mortal", "kill -9 $$"), job_options_, stop_);
  EXPECT_THROW(job.carry_out({}), FailureError);
  EXPECT_THROW(job.carry_out({}), FailureError);
}

TEST_F(JobTest, WaitEndsOnAStopRequest) {
  Job job(stand_in_.job("slow", "read -r never"), job_options_, stop_);
  stop_ = true;
  EXPECT_THROW(job.carry_out({}), Stopped);
}

}  // namespace
}  // namespace huddle::bench
