// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the range of memory that a call reads or writes, for datatypes with different extents and
// gaps.
#include "mpi/back_end/message.h"

#include <gtest/gtest.h>

#include <array>

namespace huddle::mpi {
namespace {

TypeFacts type_of(std::size_t bytes, Aint extent, Aint first_byte, std::size_t span_bytes) {
  TypeFacts facts;
  facts.bytes = bytes;
  facts.extent = extent;
  facts.first_byte = first_byte;
  facts.span = span_bytes;
  return facts;
}

class BoundsTest : public ::testing::Test {
 protected:
  Bounds bounds(const TypeFacts& facts, int count) {
    Part part;
    part.place.address = memory_.data() + offset;
    part.place.count = count;
    part.facts = &facts;
    return bounds_of(memory_.data(), part);
  }

  static constexpr Aint offset = 32;
  std::array<std::byte, 64> memory_ = {};
};

TEST_F(BoundsTest, AscendingElementsEndWithTheLast) {
  const Bounds found = bounds(type_of(4, 8, 0, 4), 3);
  EXPECT_EQ(found.begin, offset);
  EXPECT_EQ(found.end, offset + 2 * 8 + 4);
}

TEST_F(BoundsTest, DescendingElementsBeginWithTheLast) {
  const Bounds found = bounds(type_of(4, -8, 0, 4), 3);
  EXPECT_EQ(found.begin, offset - 2 * 8);
  EXPECT_EQ(found.end, offset + 4);
}

TEST_F(BoundsTest, DataMayBeginBeforeOrAfterTheAddress) {
  const Bounds found = bounds(type_of(4, 4, -4, 4), 2);
  EXPECT_EQ(found.begin, offset - 4);
  EXPECT_EQ(found.end, offset + 4);
}

TEST_F(BoundsTest, PartsWithoutDataAreIgnored) {
  const TypeFacts facts = type_of(4, 4, 0, 4);
  const TypeFacts none = type_of(0, 1, 0, 0);
  const auto part = [&](const TypeFacts& of, std::size_t at, int count) {
    Part made;
    made.place.address = memory_.data() + at;
    made.place.count = count;
    made.facts = &of;
    return made;
  };
  const Bounds found =
      bounds_of(memory_.data(), std::vector<Part>{part(none, 0, 5), part(facts, 16, 1),
                                                  part(facts, 8, 1), part(facts, 40, 0)});
  EXPECT_EQ(found.begin, 8);
  EXPECT_EQ(found.end, 20);
}

}  // namespace
}  // namespace huddle::mpi
