// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// These tests show little on a machine with one NUMA node; tests/lab/numa_guest.sh runs them, and
// those of the teams, on four nodes.
#include "runtime/memory/page_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "common/error.h"
#include "numa_placement.h"
#include "runtime/memory/arena.h"

namespace huddle::memory {
namespace {

using ::testing::Contains;

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

}  // namespace
}  // namespace huddle::memory
