// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/operation.h"

#include <gtest/gtest.h>

#include <limits>

namespace huddle::select {
namespace {

// The limit that the C interface accepts.
constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;

// The class contains the size, the class below does not, and little is added.
void expect_tight(std::size_t bytes) {
  const std::size_t size_class = size_class_of(bytes);
  ASSERT_LT(size_class, size_classes) << bytes;
  EXPECT_GE(largest_in(size_class), bytes);
  EXPECT_LE(largest_in(size_class) - bytes, bytes / classes_an_octave + 1) << bytes;
  ASSERT_GT(size_class, 0U);
  EXPECT_LT(largest_in(size_class - 1), bytes) << bytes;
}

TEST(SizeClass, ContainsSizesAroundPowersOfTwo) {
  for (std::size_t bytes = 2; bytes <= 5000; ++bytes) expect_tight(bytes);
  for (int bit = 3; bit < 63; ++bit) {
    const std::size_t power = std::size_t{1} << bit;
    for (const std::size_t bytes : {power - 1, power, power + 1, power + power / 2}) {
      expect_tight(bytes);
    }
  }
  expect_tight(most_bytes);
}

}  // namespace
}  // namespace huddle::select
