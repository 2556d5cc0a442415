// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/job_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi/call_log.h"

namespace huddle::mpi {
namespace {

using select::Operation;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A job whose ranks make calls at given times.
class LoggedJob {
 public:
  explicit LoggedJob(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) members_.push_back(rank);
    for (int rank = 0; rank < ranks; ++rank) logs_.emplace_back(members_);
  }

  struct Times {
    double enter_us;
    double leave_us;
  };
  void call(Operation operation, std::size_t bytes, const std::vector<Times>& by_rank, int root = 0,
            FallbackReason why = FallbackReason::switched_off) {
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      on_rank(rank, operation, bytes, by_rank[rank], static_cast<int>(rank) == root, why);
    }
  }
  void on_rank(std::size_t rank, Operation operation, std::size_t bytes, Times times,
               bool is_root = false, FallbackReason why = FallbackReason::switched_off) {
    logs_[rank].add({operation, why, ""}, {bytes, bytes},
                    {.enter_ns = times.enter_us * 1e3,
                     .leave_ns = times.leave_us * 1e3,
                     .is_root = is_root ? 1U : 0U});
  }
  std::vector<RankReport> reports() const {
    std::vector<RankReport> reports;
    for (const CallLog& log : logs_) {
      reports.push_back({.run_seconds = 1, .groups = {log.calls()}});
    }
    return reports;
  }
  JobReport report(const decltype(Prediction::ns)& predict = {}) const {
    return job_report(reports(), {predict});
  }

 private:
  std::vector<int> members_;
  std::vector<CallLog> logs_;
};

const JobRow& only_row(const JobReport& report) {
  EXPECT_THAT(report.groups, SizeIs(1));
  EXPECT_THAT(report.groups.front().rows, SizeIs(1));
  return report.groups.front().rows.front();
}

auto near_us(double microseconds) { return DoubleNear(microseconds * 1e-6, 1e-12); }

TEST(JobReport, DividesTimeAtTheEntryOfTheLastRank) {
  LoggedJob job(3);
  job.call(Operation::allreduce, 8, {{0, 110}, {40, 111}, {100, 112}});
  const JobReport report = job.report();
  const JobRow& row = only_row(report);
  EXPECT_TRUE(row.is_divided);
  EXPECT_THAT(row.waiting_seconds.most, near_us(100));
  EXPECT_THAT(row.waiting_seconds.least, near_us(0));
  EXPECT_THAT(row.waiting_seconds.mean, near_us(160.0 / 3));
  EXPECT_THAT(row.transfer_seconds.mean, near_us(11));
  EXPECT_THAT(row.typical_ns, DoubleNear(12e3, 1e-6));
  ASSERT_TRUE(report.late);
  EXPECT_EQ(report.late->rank, 2);
  EXPECT_EQ(report.late->share, 1);
  EXPECT_THAT(report.late->late_ns, DoubleNear(80e3, 1e-6));
}

TEST(JobReport, CountsWaitingForTheRootOfABroadcast) {
  LoggedJob job(3);
  // Rank 1 waits for the root and leaves before rank 2 enters.
  job.call(Operation::bcast, 8, {{50, 52}, {0, 60}, {200, 203}});
  const JobRow row = only_row(job.report());
  EXPECT_THAT(row.waiting_seconds.mean, near_us(50.0 / 3));
  EXPECT_THAT(row.transfer_seconds.most, near_us(10));
}

TEST(JobReport, RootOfABroadcastDoesNotWait) {
  LoggedJob job(2);
  job.call(Operation::bcast, 8, {{0, 2}, {100, 101}});
  const JobRow row = only_row(job.report());
  EXPECT_THAT(row.waiting_seconds.most, near_us(0));
  EXPECT_THAT(row.transfer_seconds.most, near_us(2));
}

TEST(JobReport, SenderOfAGatherThatLeavesEarlyDoesNotWait) {
  LoggedJob job(2);
  job.call(Operation::gather, 8, {{100, 103}, {0, 2}});
  EXPECT_THAT(only_row(job.report()).waiting_seconds.most, near_us(0));
}

TEST(JobReport, WaitingIsNeverSaved) {
  LoggedJob job(2);
  for (int call = 0; call < 100; ++call) {
    const double at = 1000.0 * call;
    job.call(Operation::allreduce, 8, {{at, at + 910}, {at + 900, at + 910}});
  }
  const auto predict = [](Operation, std::size_t bytes, std::span<const int> members) {
    EXPECT_EQ(bytes, 8);
    EXPECT_THAT(members, ElementsAre(0, 1));
    return std::optional(4000.0);
  };
  const JobReport report = job.report(predict);
  EXPECT_THAT(report.saving_seconds(), near_us(600));
}

TEST(JobReport, InterruptedCallsAreNotSaved) {
  LoggedJob job(2);
  for (int call = 0; call < 9; ++call) {
    job.call(Operation::allreduce, 8,
             {{100.0 * call, 100.0 * call + 5}, {100.0 * call, 100.0 * call + 5}});
  }
  job.call(Operation::allreduce, 8, {{1000, 9000}, {1000, 9000}});
  const auto predict = [](auto...) { return std::optional(5000.0); };
  EXPECT_EQ(job.report(predict).saving_seconds(), 0);
}

TEST(JobReport, SavesNothingInCallsThatHuddleRan) {
  LoggedJob job(2);
  job.call(Operation::allreduce, 8, {{0, 10}, {0, 10}}, 0, FallbackReason::none);
  const auto predict = [](auto...) { return std::optional(1.0); };
  EXPECT_EQ(job.report(predict).saving_seconds(), 0);
}

TEST(JobReport, SavingIsTheMeanOverAllRanksOfTheJob) {
  std::vector<RankReport> reports;
  for (int rank = 0; rank < 4; ++rank) {
    CallLog log({rank / 2 * 2, rank / 2 * 2 + 1});
    log.add({Operation::allreduce, FallbackReason::switched_off, ""}, {8, 8},
            {.enter_ns = 0, .leave_ns = 10e3});
    reports.push_back({.run_seconds = 1, .groups = {log.calls()}});
  }
  const JobReport report = job_report(reports, {[](auto...) { return std::optional(4000.0); }});
  EXPECT_THAT(report.groups, SizeIs(2));
  EXPECT_THAT(report.saving_seconds(), near_us(6));
}

TEST(JobReport, DoesNotDivideCallsThatDoNotMatch) {
  LoggedJob job(2);
  job.on_rank(0, Operation::bcast, 8, {0, 10});
  job.on_rank(0, Operation::barrier, 0, {20, 30});
  job.on_rank(1, Operation::barrier, 0, {0, 10});
  job.on_rank(1, Operation::bcast, 8, {20, 30});
  const JobReport report = job.report();
  for (const JobRow& row : report.groups.front().rows) EXPECT_FALSE(row.is_divided);
  EXPECT_THAT(report.undivided_seconds(), near_us(20));
  EXPECT_THAT(job_report_text(report, {}), HasSubstr("20 us cannot be divided"));
}

TEST(JobReport, SeparatesSizes) {
  LoggedJob job(2);
  job.call(Operation::bcast, 8, {{0, 1}, {0, 1}});
  job.call(Operation::bcast, 4096, {{2, 9}, {2, 9}});
  const JobReport report = job.report();
  ASSERT_THAT(report.groups.front().rows, SizeIs(2));
  EXPECT_EQ(report.groups.front().rows.front().common_per_call, 4096);
}

// The sample of a long program contains only some of its calls; sums contain all.
TEST(JobReport, SampleOfManyCallsGivesTheSameShares) {
  LoggedJob job(2);
  constexpr int calls = 50000;
  for (int call = 0; call < calls; ++call) {
    const double at = 100.0 * call;
    job.call(Operation::allreduce, 8, {{at, at + 40}, {at + 30, at + 40}});
  }
  std::vector<RankReport> reports = job.reports();
  EXPECT_LT(reports[0].groups[0].sample.size(), 5000U);
  reports[1].groups[0].thin(100);  // another rank may have to send fewer
  const JobReport report = job_report(reports, {});
  const JobRow& row = only_row(report);
  EXPECT_EQ(row.calls, calls);
  EXPECT_NEAR(row.waiting_seconds.most, 30e-6 * calls, 1e-6 * calls);
  EXPECT_NEAR(row.transfer_seconds.mean, 10e-6 * calls, 1e-6 * calls);
}

// Calls of two kinds by turns, and one call of a third kind among them.
TEST(JobReport, SampleContainsEveryKindOfCall) {
  LoggedJob job(2);
  constexpr int rounds = 10'000;
  for (int round = 0; round < rounds; ++round) {
    const double at = 100.0 * round;
    job.call(Operation::bcast, 8, {{at, at + 10}, {at, at + 10}});
    if (round == rounds / 2 + 1) job.call(Operation::barrier, 0, {{at, at + 20}, {at, at + 20}});
    job.call(Operation::allreduce, 1 << 20, {{at + 20, at + 60}, {at + 50, at + 60}});
  }
  const std::vector<RankReport> reports = job.reports();
  EXPECT_LT(reports[0].groups[0].sample.size(), 5000U);
  const JobReport report = job_report(reports, {});
  ASSERT_THAT(report.groups.front().rows, SizeIs(3));
  for (const JobRow& row : report.groups.front().rows)
    EXPECT_TRUE(row.is_divided) << name(row.kind.operation);
  EXPECT_NEAR(report.waiting_seconds.most, 30e-6 * rounds, 1e-6 * rounds);
}

// Every sample contains the first call, which often takes longest.
TEST(JobReport, TheFirstCallStandsForItselfOnly) {
  LoggedJob job(2);
  constexpr int calls = 50'000;
  for (int call = 0; call < calls; ++call) {
    const double at = 100.0 * call + 100'000;
    const double enter = call == 0 ? 0 : at;
    job.call(Operation::allreduce, 8, {{enter, at + 20}, {at + 10, at + 20}});
  }
  const JobReport report = job.report();
  ASSERT_TRUE(report.late);
  EXPECT_THAT(report.late->late_ns, DoubleNear(12e3, 1e3)) << "10 us, and once 100 ms";
}

TEST(JobReport, RankReportSurvivesItsBytes) {
  LoggedJob job(2);
  job.call(Operation::scatterv, 100, {{0, 1}, {0, 2}}, 1);
  const RankReport sent = job.reports()[1];
  const auto received = rank_report_from(sent.bytes());
  ASSERT_TRUE(received);
  ASSERT_THAT(received->groups, SizeIs(1));
  EXPECT_EQ(received->groups[0].members, sent.groups[0].members);
  EXPECT_EQ(received->groups[0].kinds, sent.groups[0].kinds);
  EXPECT_EQ(received->groups[0].sample[0].leave_ns, 2000);
  EXPECT_EQ(received->groups[0].sample[0].is_root, 1U);
  EXPECT_FALSE(rank_report_from(sent.bytes().substr(1)));
  EXPECT_FALSE(rank_report_from(""));
}

TEST(JobReport, TextNamesTheCollectivesThatMatter) {
  LoggedJob job(2);
  job.call(Operation::allreduce, 8, {{0, 10}, {2, 10}});
  job.call(Operation::barrier, 0, {{20, 21}, {20, 21}});
  const auto predict = [](Operation operation, auto...) {
    return std::optional(operation == Operation::allreduce ? 3000.0 : 900.0);
  };
  const std::string text = job_report_text(job.report(predict), {.was_off = true});
  EXPECT_THAT(text, HasSubstr("collectives took 10 us of the 1 s from MPI_Init"));
  EXPECT_THAT(text,
              HasSubstr("of this, 1 us was waiting for ranks that entered later (0 ns to 2 us), "
                        "and 9 us transfer\n"));
  EXPECT_THAT(text, HasSubstr("predicted to save 5.1 us of the transfer (0.0 % of the run)"));
  EXPECT_THAT(text, HasSubstr("huddle calibrate"));
  EXPECT_LT(text.find("allreduce "), text.find("barrier "));
  EXPECT_THAT(job_report_text(job_report({}, {}), {}), IsEmpty());
}

TEST(JobReport, JsonContainsEveryRow) {
  LoggedJob job(2);
  job.call(Operation::allreduce, 8, {{0, 10}, {2, 10}});
  const std::string json =
      job_report_json(job.report(), {.was_off = true, .others = {{"MPI_Iallreduce", 3}}});
  EXPECT_THAT(json, HasSubstr("\"command\": \"stats\""));
  EXPECT_THAT(json, HasSubstr("\"fallback_reason\": \"huddle is off\""));
  EXPECT_THAT(json, HasSubstr("\"MPI_Iallreduce\": 3"));
  EXPECT_THAT(json, Not(HasSubstr("predicted_ns")));
}

}  // namespace
}  // namespace huddle::mpi
