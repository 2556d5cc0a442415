// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "versus/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace huddle::versus {
namespace {

using select::Operation;
using testing::ElementsAre;

TEST(Points, OperationsAreWordsBetweenCommas) {
  EXPECT_THAT(operations_from("bcast,allreduce"),
              ElementsAre(Operation::bcast, Operation::allreduce));
  EXPECT_EQ(operations_from("").front(), Operation::barrier);
  EXPECT_EQ(operations_from("all").size(), select::operations.size() - 1);
  EXPECT_THROW(operations_from("alltoallw"), UsageError);
  EXPECT_THROW(operations_from("bcast,gossip"), UsageError);
}

TEST(Points, ARangeHasBothItsEnds) {
  EXPECT_THAT(sizes_from("8:128"), ElementsAre(8, 32, 128));
  EXPECT_THAT(sizes_from("8:100K:64"), ElementsAre(8, 512, 32768, 102400));
  EXPECT_THAT(sizes_from("1M,8:16:2,64"), ElementsAre(8, 16, 64, 1 << 20));
}

TEST(Points, RefusesWhatCannotBeTimed) {
  for (const char* text : {"0", "7", "8:", "8:4", "8:64:1", "2G", "8:16:2:2", "much", "-8"}) {
    EXPECT_THROW(sizes_from(text), UsageError) << text;
  }
}

TEST(Points, ABarrierHasNoSize) {
  EXPECT_THAT(points_of({Operation::barrier, Operation::reduce}, {8, 64}),
              ElementsAre(Point{Operation::barrier, 0}, Point{Operation::reduce, 8},
                          Point{Operation::reduce, 64}));
}

}  // namespace
}  // namespace huddle::versus
