// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/arena_space.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace huddle::memory {
namespace {

using Backing = ArenaSpace::Backing;
constexpr std::size_t whole = 1 << 20;

ArenaSpace one_part() {
  ArenaSpace space;
  space.give(Backing::memory, {0, whole});
  return space;
}

TEST(ArenaSpace, MergesAdjacentParts) {
  ArenaSpace space = one_part();
  const Piece a = *space.take(Backing::memory, 128, 128);
  const Piece b = *space.take(Backing::memory, 128, 128);
  const Piece c = *space.take(Backing::memory, 128, 128);
  EXPECT_EQ(space.give(Backing::memory, a), a);
  EXPECT_EQ(space.give(Backing::memory, c).end(), whole);
  EXPECT_EQ(space.give(Backing::memory, b), (Piece{0, whole}));
}

TEST(ArenaSpace, KeepsKindsSeparate) {
  ArenaSpace space;
  space.give(Backing::memory, {0, 4096});
  space.give(Backing::none, {4096, 4096});
  EXPECT_EQ(space.parts(Backing::memory), (std::vector<Piece>{{0, 4096}}));
  EXPECT_FALSE(space.take(Backing::memory, 8192, 128));
  EXPECT_EQ(space.take(Backing::none, 4096, 4096), (Piece{4096, 4096}));
}

TEST(ArenaSpace, TakesSmallestPartThatFits) {
  ArenaSpace space;
  space.give(Backing::memory, {0, 4096});
  space.give(Backing::memory, {8192, 512});
  space.give(Backing::memory, {16384, 1024});
  EXPECT_EQ(space.take(Backing::memory, 512, 128), (Piece{8192, 512}));
  EXPECT_EQ(space.take(Backing::memory, 512, 128), (Piece{16384, 512}));
}

TEST(ArenaSpace, FindsAlignedPartAmongManySmallOnes) {
  ArenaSpace space;
  for (std::size_t page = 0; page < 200; ++page) {
    space.give(Backing::memory, {page * 16384 + 128, 4096});
  }
  space.give(Backing::memory, {whole * 8 + 128, 8192});
  EXPECT_EQ(space.take(Backing::memory, 4096, 4096), (Piece{whole * 8 + 4096, 4096}));
}

// Checks that free and taken parts fill the space without gaps or overlaps, and that no two free
// parts of one kind are adjacent.
void check_invariants(const ArenaSpace& space, std::vector<Piece> taken) {
  const std::vector<Piece> free_parts = space.parts(Backing::memory);
  for (std::size_t i = 1; i < free_parts.size(); ++i) {
    RC_ASSERT(free_parts[i - 1].end() < free_parts[i].offset);
  }
  taken.insert(taken.end(), free_parts.begin(), free_parts.end());
  std::sort(taken.begin(), taken.end(),
            [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  std::size_t end = 0;
  for (const Piece& piece : taken) {
    RC_ASSERT(piece.offset == end);
    end = piece.end();
  }
  RC_ASSERT(end == whole);
  RC_ASSERT(space.free_bytes(Backing::memory) ==
            std::accumulate(free_parts.begin(), free_parts.end(), std::size_t{0},
                            [](std::size_t sum, const Piece& piece) { return sum + piece.bytes; }));
}

TEST(ArenaSpace, StaysConsistentAfterRandomOperations) {
  EXPECT_TRUE(rc::check("takes and gives in any order", [] {
    ArenaSpace space = one_part();
    std::vector<Piece> taken;
    const int steps = *rc::gen::inRange(1, 200);
    for (int step = 0; step < steps; ++step) {
      if (taken.empty() || *rc::gen::inRange(0, 3) != 0) {
        const std::size_t bytes = 128 * *rc::gen::inRange<std::size_t>(1, 300);
        const std::size_t alignment = std::size_t{128} << *rc::gen::inRange(0, 7);
        const auto piece = space.take(Backing::memory, bytes, alignment);
        if (!piece) continue;
        RC_ASSERT(piece->bytes == bytes);
        RC_ASSERT(piece->offset % alignment == 0U);
        taken.push_back(*piece);
      } else {
        const auto which = *rc::gen::inRange<std::size_t>(0, taken.size());
        space.give(Backing::memory, taken[which]);
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
      }
      check_invariants(space, taken);
    }
    for (const Piece& piece : taken) space.give(Backing::memory, piece);
    RC_ASSERT(space.parts(Backing::memory) == (std::vector<Piece>{{0, whole}}));
  }));
}

}  // namespace
}  // namespace huddle::memory
