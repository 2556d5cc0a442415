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

huddle_stub_interface door_with(const huddle_fallback* fallbacks, std::size_t count) {
  return {nullptr, "/usr/lib/libmpi.so", fallbacks, count};
}

TEST(Stats, AddUpByOperationAndAlgorithm) {
  Stats stats;
  stats.handled(Operation::bcast, {"inline"}, 8, 0.25);
  stats.handled(Operation::bcast, {"inline"}, 16, 0.5);
  stats.handled(Operation::bcast, {"pipelined"}, 4096, 1);
  const std::string report = stats.report(door_with(nullptr, 0));
  EXPECT_THAT(report, AllOf(ContainsRegex("bcast +2 +24 +0\\.750000  inline\n"),
                            ContainsRegex("bcast +1 +4096 +1\\.000000  pipelined\n")));
}

TEST(Stats, NameTheForcedAlgorithmThatCannotRun) {
  Stats stats;
  stats.handled(Operation::bcast, {"pipelined", "inline"}, 4096, 1);
  stats.handled(Operation::bcast, {"pipelined", "inline"}, 4096, 1);
  stats.handled(Operation::bcast, {"inline"}, 8, 1);
  EXPECT_THAT(
      stats.report(door_with(nullptr, 0)),
      AllOf(
          ContainsRegex(
              "bcast +2 +8192 .*  pipelined \\(instead of inline, which cannot run this call\\)\n"),
          ContainsRegex("bcast +1 +8 .*  inline\n")));
}

TEST(Stats, ShowTheFallbackReason) {
  Stats stats;
  stats.fell_back(Operation::reduce, FallbackReason::several_nodes, "", 80, 0);
  EXPECT_THAT(stats.report(door_with(nullptr, 0)),
              ContainsRegex("reduce +1 +80 .*MPI: ranks on several nodes\n"));
}

TEST(Stats, SeparateReductionsThatFallBack) {
  Stats stats;
  stats.fell_back(Operation::reduce, FallbackReason::no_reduction, "MPI_SUM of MPI_PACKED", 8, 0);
  stats.fell_back(Operation::reduce, FallbackReason::no_reduction, "MPI_SUM of MPI_WCHAR", 8, 0);
  stats.fell_back(Operation::reduce, FallbackReason::no_reduction, "MPI_SUM of MPI_WCHAR", 8, 0);
  EXPECT_THAT(
      stats.report(door_with(nullptr, 0)),
      AllOf(ContainsRegex(
                "reduce +1 +8 .*MPI: unsupported datatype or operator: MPI_SUM of MPI_PACKED\n"),
            ContainsRegex(
                "reduce +2 +16 .*MPI: unsupported datatype or operator: MPI_SUM of MPI_WCHAR\n")));
}

TEST(Stats, IncludeCallsThatTheStubForwards) {
  const std::array<huddle_fallback, 6> fallbacks = {{{"MPI_Scan", 3},
                                                     {"MPI_Gather", 0},
                                                     {"MPI_Ireduce_c", 4},
                                                     {"MPI_Allreduce_init_c", 5},
                                                     {"MPI_Neighbor_alltoallv_init", 6},
                                                     {"MPI_Ineighbor_allgather", 7}}};
  const std::string report = Stats().report(door_with(fallbacks.data(), fallbacks.size()));
  EXPECT_THAT(
      report,
      AllOf(ContainsRegex("MPI_Scan +3 .*MPI: unsupported collective\n"),
            ContainsRegex("MPI_Ireduce_c +4 .*MPI: nonblocking collective\n"),
            ContainsRegex("MPI_Allreduce_init_c +5 .*MPI: persistent collective\n"),
            ContainsRegex("MPI_Neighbor_alltoallv_init +6 .*MPI: neighborhood collective\n"),
            ContainsRegex("MPI_Ineighbor_allgather +7 .*MPI: neighborhood collective\n")));
  EXPECT_THAT(report, Not(HasSubstr("MPI_Gather")));
}

Shares shares_of(std::size_t handled,
                 std::initializer_list<std::pair<FallbackReason, int>> fallbacks) {
  Shares shares{.handled = handled};
  for (const auto& [why, calls] : fallbacks) {
    for (int call = 0; call < calls; ++call) shares.count(why);
  }
  return shares;
}

TEST(Summary, ListsFallbackReasonsByFrequency) {
  const std::array<huddle_fallback, 2> fallbacks = {{{"MPI_Iscan", 3}, {"MPI_Igather", 3007}}};
  const Shares shares = shares_of(12040, {{FallbackReason::one_rank, 2},
                                          {FallbackReason::not_activated, 8},
                                          {FallbackReason::no_reduction, 2}});
  EXPECT_EQ(summary(shares, door_with(fallbacks.data(), fallbacks.size()), {}),
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
  Shares off = shares_of(0, {{FallbackReason::switched_off, 9}, {FallbackReason::one_rank, 1}});
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
  stats.add_note("no memory left");
  stats.add_note("no memory left");
  const std::string report = stats.report(door_with(nullptr, 0));
  EXPECT_EQ(report.find("no memory left"), report.rfind("no memory left"));
  EXPECT_THAT(report, HasSubstr("no memory left"));
}

}  // namespace
}  // namespace huddle::mpi
