// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/cost.h"

#include <gtest/gtest.h>

namespace huddle::machine {
namespace {

Machine with(const ArrayCost& own, const ArrayCost& shared) {
  Machine machine;
  machine.arrays = {own, shared};
  return machine;
}

const ArrayCost own = {ArrayPlace::program, 10, 5, 0.05, Origin::measured};

TEST(HeapCost, IsTheRatioToTheApplicationsOwnArrays) {
  const auto cost = heap_cost(with(own, {ArrayPlace::heap, 16, 6, 0.1, Origin::measured}));
  ASSERT_TRUE(cost.has_value());
  EXPECT_DOUBLE_EQ(cost->loads, 1.6);
  EXPECT_DOUBLE_EQ(cost->stream, 1.2);
  EXPECT_DOUBLE_EQ(cost->spread, 0.1);
}

TEST(HeapCost, IsFeltIfItExceedsTheSpread) {
  const auto felt = [](double load_ns, double stream_ns) {
    const ArrayCost shared{ArrayPlace::heap, load_ns, stream_ns, 0.02, Origin::measured};
    return heap_cost(with(own, shared))->is_felt();
  };
  EXPECT_FALSE(felt(10, 5));
  EXPECT_FALSE(felt(10.4, 5.2));
  EXPECT_FALSE(felt(7, 3));
  EXPECT_TRUE(felt(10.6, 5));
  EXPECT_TRUE(felt(10, 5.3));
}

TEST(HeapCost, IsUnknownUnlessBothWereMeasured) {
  EXPECT_FALSE(heap_cost(Machine()).has_value());
  EXPECT_FALSE(heap_cost(with(own, own)).has_value());
  EXPECT_FALSE(heap_cost(with(own, {ArrayPlace::heap, 10, 5, 0, Origin::estimated})).has_value());
}

}  // namespace
}  // namespace huddle::machine
