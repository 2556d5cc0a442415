// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace huddle::bench {
namespace {

using select::Operation;
using testing::ElementsAre;
using testing::StartsWith;

TEST(Points, OperationsAreSeparatedByCommas) {
  EXPECT_THAT(operations_from("bcast,allreduce"),
              ElementsAre(Operation::bcast, Operation::allreduce));
  EXPECT_EQ(operations_from("").front(), Operation::barrier);
  EXPECT_EQ(operations_from("all").size(), select::operations.size() - 1);
}

TEST(Points, OperationsMayHaveTheirMpiNames) {
  EXPECT_THAT(operations_from("MPI_Bcast,mpi_allreduce"),
              ElementsAre(Operation::bcast, Operation::allreduce));
}

std::string complaint_about(const std::string& operations) {
  try {
    operations_from(operations);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Points, NamesTheUnknownOperation) {
  EXPECT_EQ(complaint_about("MPI_Alltoallw"), "--ops: huddle bench cannot time alltoallw");
  EXPECT_EQ(complaint_about("bcast,MPI_Bcst"),
            "--ops: unknown word 'MPI_Bcst'; did you mean 'bcast'?");
  EXPECT_THAT(complaint_about("gossip"),
              StartsWith("--ops: unknown word 'gossip'; use one of barrier, "));
}

TEST(Points, RangeIncludesBothEnds) {
  EXPECT_THAT(sizes_from("8:128"), ElementsAre(8, 32, 128));
  EXPECT_THAT(sizes_from("8:100K:64"), ElementsAre(8, 512, 32768, 102400));
  EXPECT_THAT(sizes_from("1M,8:16:2,64"), ElementsAre(8, 16, 64, 1 << 20));
}

TEST(Points, RefusesSizesThatCannotBeTimed) {
  for (const char* text : {"0", "7", "8:", "8:4", "8:64:1", "2G", "8:16:2:2", "much", "-8"}) {
    EXPECT_THROW(sizes_from(text), UsageError) << text;
  }
}

TEST(Points, BarrierHasNoSize) {
  EXPECT_THAT(points_of({Operation::barrier, Operation::reduce}, {8, 64}),
              ElementsAre(Point{Operation::barrier, 0}, Point{Operation::reduce, 8},
                          Point{Operation::reduce, 64}));
}

}  // namespace
}  // namespace huddle::bench
