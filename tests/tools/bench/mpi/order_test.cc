// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/order.h"

#include <gtest/gtest.h>

namespace huddle::bench {
namespace {

TEST(Order, ArrivesAsItWasSent) {
  const Order sent{.operation = Operation::reduce,
                   .bytes = 65536,
                   .calls = 4,
                   .stretches = 7,
                   .rounds = 3,
                   .limit_ns = 5'000'000'000,
                   .native = false,
                   .huddle = true,
                   .huddle_first = true,
                   .explain = true,
                   .timing = Timing::osu,
                   .mockup = Mockup::reduce_by_allreduce};
  Order got;
  ASSERT_TRUE(read(text(sent), got));
  EXPECT_EQ(text(got), text(sent));
  EXPECT_EQ(got.operation, Operation::reduce);
  EXPECT_EQ(got.limit_ns, 5'000'000'000);
  EXPECT_FALSE(got.native);
  EXPECT_TRUE(got.explain);
  EXPECT_EQ(got.timing, Timing::osu);
  EXPECT_EQ(got.mockup, Mockup::reduce_by_allreduce);
}

TEST(Order, BecomesARequestWithAllReducedBytes) {
  EXPECT_EQ(request_of(Operation::allreduce, 64, 4).bytes, 64U);
  EXPECT_EQ(request_of(Operation::allreduce, 64, 4).element_bytes, sizeof(double));
  EXPECT_EQ(request_of(Operation::alltoall, 64, 4).bytes, 64U);
  EXPECT_EQ(request_of(Operation::alltoall, 64, 4).element_bytes, 1U);
  EXPECT_EQ(request_of(Operation::reduce_scatter_block, 64, 4).bytes, 256U);
}

TEST(Order, IsNotReadFromOtherLines) {
  Order order;
  EXPECT_FALSE(read("", order));
  EXPECT_FALSE(read("1 8 1", order));
  EXPECT_TRUE(read("1 8 1 1 1 1 1 1 1 0 0 0", order));
  EXPECT_FALSE(read("99 8 1 1 1 1 1 1 1 0 0 0", order));
  EXPECT_FALSE(read("1 8 1 1 1 1 1 1 1 0 3 0", order));
  EXPECT_FALSE(read("1 8 1 1 1 1 1 1 1 0 0 22", order));
}

}  // namespace
}  // namespace huddle::bench
