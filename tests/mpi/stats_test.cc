// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace huddle::mpi {
namespace {

using select::Operation;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

huddle_door door_with(const huddle_passed* passed, std::size_t count) {
  return {nullptr, "/usr/lib/libmpi.so", passed, count};
}

TEST(Stats, AddUpByOperationAndAlgorithm) {
  Stats stats;
  stats.taken(Operation::bcast, "inline", 8, 0.25);
  stats.taken(Operation::bcast, "inline", 16, 0.5);
  stats.taken(Operation::bcast, "pipelined", 4096, 1);
  const std::string report = stats.report(door_with(nullptr, 0));
  EXPECT_THAT(report, AllOf(ContainsRegex("bcast +2 +24 +0\\.750000  inline\n"),
                            ContainsRegex("bcast +1 +4096 +1\\.000000  pipelined\n")));
}

TEST(Stats, SayWhyACallPassed) {
  Stats stats;
  stats.passed(Operation::reduce, Passed::several_nodes, 80, 0);
  EXPECT_THAT(stats.report(door_with(nullptr, 0)),
              ContainsRegex("reduce +1 +80 .*MPI: several nodes\n"));
}

TEST(Stats, NameWhatNeverCameToTheBackEnd) {
  const std::array<huddle_passed, 2> passed = {{{"MPI_Scan", 3}, {"MPI_Gather", 0}}};
  const std::string report = Stats().report(door_with(passed.data(), passed.size()));
  EXPECT_THAT(report, ContainsRegex("MPI_Scan +3 "));
  EXPECT_THAT(report, Not(HasSubstr("MPI_Gather")));
}

TEST(Summary, AddsWhatNeverCameToTheBackEnd) {
  const std::array<huddle_passed, 2> passed = {{{"MPI_Scan", 3}, {"MPI_Gather", 307}}};
  EXPECT_EQ(summary({12040, 1000000}, door_with(passed.data(), passed.size())),
            "huddle: 12,040 collectives of rank 0 taken, 1,000,310 passed to the MPI "
            "(--stats says which)\n");
  EXPECT_EQ(summary({999, 0}, door_with(nullptr, 0)),
            "huddle: 999 collectives of rank 0 taken, 0 passed to the MPI (--stats says which)\n");
}

TEST(Summary, SaysNothingOfNothing) { EXPECT_EQ(summary({}, door_with(nullptr, 0)), ""); }

TEST(Stats, ARemarkIsSaidOnce) {
  Stats stats;
  stats.remark("no memory left");
  stats.remark("no memory left");
  const std::string report = stats.report(door_with(nullptr, 0));
  EXPECT_EQ(report.find("no memory left"), report.rfind("no memory left"));
  EXPECT_THAT(report, HasSubstr("no memory left"));
}

}  // namespace
}  // namespace huddle::mpi
