// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// These tests show little on a machine with one NUMA node; tests/lab/numa_guest.sh runs them, and
// those of the teams, on four nodes.
#include "runtime/memory/page_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <vector>

#include "common/error.h"
#include "numa_placement.h"
#include "runtime/memory/arena.h"

namespace huddle::memory {
namespace {

using ::testing::Contains;
using ::testing::Each;

std::span<const std::byte> bytes_of(const Arena& arena, Piece piece) {
  return {arena.data(piece), piece.bytes};
}

TEST(Numa, CallersNodeIsAllowed) {
  EXPECT_THAT(allowed_numa_nodes(), Contains(current_numa_node()));
}

TEST(Numa, PieceIsOnNodeOfItsOwner) {
  Arena arena({.cap_bytes = std::size_t{64} << 20});
  const Piece piece = arena.allocate(20 * page_bytes(), page_bytes());
  const Placement placement = check_placement(bytes_of(arena, piece), current_numa_node());
  EXPECT_EQ(placement.pages, 20U);
  EXPECT_EQ(placement.elsewhere, 0U);
}

TEST(Numa, SampleContainsTheNodesOfPages) {
  for (const int node : allowed_numa_nodes()) {
    const PageBuffer buffer(100 * page_bytes(), node);
    buffer.touch();
    const std::vector<int> sampled = sample_numa_nodes(buffer.bytes(), 8);
    EXPECT_EQ(sampled, std::vector<int>(8, numa_nodes_of_pages(buffer.bytes()).front()));
  }
}

TEST(Numa, SampleOfUnmappedMemoryIsUnknown) {
  const PageBuffer untouched(8 * page_bytes());
  EXPECT_THAT(sample_numa_nodes(untouched.bytes(), 8), Each(unknown_node));
  std::span<const std::byte> unmapped;
  {
    const PageBuffer buffer(8 * page_bytes());
    unmapped = buffer.bytes();
  }
  EXPECT_THAT(sample_numa_nodes(unmapped, 8), Each(unknown_node));
}

TEST(Numa, SampleOfLittleMemoryIsEmpty) {
  const PageBuffer buffer(7 * page_bytes());
  EXPECT_TRUE(sample_numa_nodes(buffer.bytes(), 8).empty());
}

}  // namespace
}  // namespace huddle::memory
