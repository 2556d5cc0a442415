// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <utility>

namespace huddle::mpi {
namespace {

using select::Operation;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

huddle_stub_interface door_with(const huddle_passed* passed, std::size_t count) {
  return {nullptr, "/usr/lib/libmpi.so", passed, count};
}

TEST(Stats, AddUpByOperationAndAlgorithm) {
  Stats stats;
  stats.taken(Operation::bcast, {"inline"}, 8, 0.25);
  stats.taken(Operation::bcast, {"inline"}, 16, 0.5);
  stats.taken(Operation::bcast, {"pipelined"}, 4096, 1);
  const std::string report = stats.report(door_with(nullptr, 0));
  EXPECT_THAT(report, AllOf(ContainsRegex("bcast +2 +24 +0\\.750000  inline\n"),
                            ContainsRegex("bcast +1 +4096 +1\\.000000  pipelined\n")));
}

TEST(Stats, NameTheForcedAlgorithmThatCannotRun) {
  Stats stats;
  stats.taken(Operation::bcast, {"pipelined", "inline"}, 4096, 1);
  stats.taken(Operation::bcast, {"pipelined", "inline"}, 4096, 1);
  stats.taken(Operation::bcast, {"inline"}, 8, 1);
  EXPECT_THAT(
      stats.report(door_with(nullptr, 0)),
      AllOf(
          ContainsRegex(
              "bcast +2 +8192 .*  pipelined \\(instead of inline, which cannot run this call\\)\n"),
          ContainsRegex("bcast +1 +8 .*  inline\n")));
}

TEST(Stats, ShowTheFallbackReason) {
  Stats stats;
  stats.passed(Operation::reduce, Route::several_nodes, "", 80, 0);
  EXPECT_THAT(stats.report(door_with(nullptr, 0)),
              ContainsRegex("reduce +1 +80 .*MPI: ranks on several nodes\n"));
}

TEST(Stats, SeparateReductionsThatFallBack) {
  Stats stats;
  stats.passed(Operation::reduce, Route::no_reduction, "MPI_SUM of MPI_PACKED", 8, 0);
  stats.passed(Operation::reduce, Route::no_reduction, "MPI_SUM of MPI_WCHAR", 8, 0);
  stats.passed(Operation::reduce, Route::no_reduction, "MPI_SUM of MPI_WCHAR", 8, 0);
  EXPECT_THAT(
      stats.report(door_with(nullptr, 0)),
      AllOf(ContainsRegex(
                "reduce +1 +8 .*MPI: unsupported datatype or operator: MPI_SUM of MPI_PACKED\n"),
            ContainsRegex(
                "reduce +2 +16 .*MPI: unsupported datatype or operator: MPI_SUM of MPI_WCHAR\n")));
}

TEST(Stats, IncludeCallsThatTheStubForwards) {
  const std::array<huddle_passed, 6> passed = {{{"MPI_Scan", 3},
                                                {"MPI_Gather", 0},
                                                {"MPI_Ireduce_c", 4},
                                                {"MPI_Allreduce_init_c", 5},
                                                {"MPI_Neighbor_alltoallv_init", 6},
                                                {"MPI_Ineighbor_allgather", 7}}};
  const std::string report = Stats().report(door_with(passed.data(), passed.size()));
  EXPECT_THAT(
      report,
      AllOf(ContainsRegex("MPI_Scan +3 .*MPI: unsupported collective\n"),
            ContainsRegex("MPI_Ireduce_c +4 .*MPI: nonblocking collective\n"),
            ContainsRegex("MPI_Allreduce_init_c +5 .*MPI: persistent collective\n"),
            ContainsRegex("MPI_Neighbor_alltoallv_init +6 .*MPI: neighborhood collective\n"),
            ContainsRegex("MPI_Ineighbor_allgather +7 .*MPI: neighborhood collective\n")));
  EXPECT_THAT(report, Not(HasSubstr("MPI_Gather")));
}

Shares shares_of(std::size_t taken, std::initializer_list<std::pair<Route, int>> passed) {
  Shares shares{.taken = taken};
  for (const auto& [why, calls] : passed) {
    for (int call = 0; call < calls; ++call) shares.count(why);
  }
  return shares;
}

TEST(Summary, ListsFallbackReasonsByFrequency) {
  const std::array<huddle_passed, 2> passed = {{{"MPI_Iscan", 3}, {"MPI_Igather", 3007}}};
  const Shares shares =
      shares_of(12040, {{Route::one_rank, 2}, {Route::not_activated, 8}, {Route::no_reduction, 2}});
  EXPECT_EQ(summary(shares, door_with(passed.data(), passed.size()), {}),
            "huddle: 12,040 collectives of rank 0 handled, 3,022 left to the MPI (nonblocking "
            "collective: 3,010, communicator not yet active: 8, single rank: 2, unsupported "
            "datatype or operator: 2)\n");
  EXPECT_EQ(summary(shares_of(999, {}), door_with(nullptr, 0), {}),
            "huddle: 999 collectives of rank 0 handled, 0 left to the MPI\n");
}

TEST(Summary, ShowsTheTimeSpentInCollectives) {
  Shares shares = shares_of(10, {});
  shares.seconds = 1.25;
  EXPECT_EQ(summary(shares, door_with(nullptr, 0), {.seconds = 5}),
            "huddle: 10 collectives of rank 0 handled, 0 left to the MPI\n"
            "huddle: blocking collectives took 1.25 s of the 5 s from MPI_Init to MPI_Finalize (25 "
            "%); to compare with the MPI alone, run with --off -v or --compare 6\n");
  Shares off = shares_of(0, {{Route::switched_off, 9}, {Route::one_rank, 1}});
  off.seconds = 2;
  EXPECT_EQ(summary(off, door_with(nullptr, 0), {.off = true, .seconds = 5}),
            "huddle: off; all 10 collectives of rank 0 ran in the MPI\n"
            "huddle: blocking collectives took 2 s of the 5 s from MPI_Init to MPI_Finalize (40 "
            "%); huddle can save a part of this time\n");
}

TEST(Summary, ReportsThatNoCollectiveWasCalled) {
  EXPECT_EQ(summary({}, door_with(nullptr, 0), {}), "huddle: rank 0 called no collective\n");
  EXPECT_EQ(summary({}, door_with(nullptr, 0), {.off = true}),
            "huddle: off; rank 0 called no collective\n");
}

TEST(Stats, PrintARemarkOnce) {
  Stats stats;
  stats.remark("no memory left");
  stats.remark("no memory left");
  const std::string report = stats.report(door_with(nullptr, 0));
  EXPECT_EQ(report.find("no memory left"), report.rfind("no memory left"));
  EXPECT_THAT(report, HasSubstr("no memory left"));
}

}  // namespace
}  // namespace huddle::mpi
