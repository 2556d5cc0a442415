// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// On a machine with one NUMA node these tests say little; tests/lab/numa_guest.sh runs them, and
// those of the teams, on four.
#include "memory/numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "memory/arena.h"
#include "memory/page_buffer.h"

namespace huddle::memory {
namespace {

using ::testing::Contains;

std::span<const std::byte> bytes_of(const Arena& arena, Piece piece) {
  return {arena.data(piece), piece.bytes};
}

TEST(Numa, TheCallersNodeIsAllowed) {
  EXPECT_THAT(allowed_numa_nodes(), Contains(current_numa_node()));
}

TEST(Numa, APieceLiesWhereItsOwnerRuns) {
  Arena arena({.cap_bytes = std::size_t{64} << 20});
  const Piece piece = arena.allocate(20 * page_bytes(), page_bytes());
  const Placement placement = check_placement(bytes_of(arena, piece), current_numa_node());
  EXPECT_EQ(placement.pages, 20U);
  EXPECT_EQ(placement.elsewhere, 0U);
}

TEST(Numa, SegmentsLieOnTheirNodes) {
  Arena arena({.cap_bytes = std::size_t{64} << 20});
  const std::vector<int> nodes = allowed_numa_nodes();
  const std::size_t segment = 10 * page_bytes();
  const Piece piece = arena.allocate_on_nodes(segment - 1, nodes);
  ASSERT_EQ(piece.bytes, segment * nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto bytes = bytes_of(arena, piece).subspan(i * segment, segment);
    EXPECT_EQ(check_placement(bytes, nodes[i]).elsewhere, 0U) << "segment " << i;
  }
}

TEST(Numa, WhatSegmentsLeaveBehindIsPlacedAnew) {
  Arena arena({.cap_bytes = std::size_t{64} << 20});
  const std::vector<int> nodes = allowed_numa_nodes();
  arena.free(arena.allocate_on_nodes(std::size_t{4} << 20, nodes));
  const Piece piece = arena.allocate(std::size_t{16} << 20, page_bytes());
  EXPECT_EQ(check_placement(bytes_of(arena, piece), current_numa_node()).elsewhere, 0U);
}

TEST(Numa, ANodeThatIsNotThereIsAnErrorAndNothingIsLost) {
  Arena arena({.cap_bytes = std::size_t{1} << 20});
  const std::size_t before = arena.reserved_bytes();
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW(arena.allocate_on_nodes(std::size_t{64} << 10, std::vector{0, 1000}),
                 FailureError);
  }
  EXPECT_EQ(arena.reserved_bytes(), before);
}

}  // namespace
}  // namespace huddle::memory
