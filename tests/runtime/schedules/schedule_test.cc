// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the parts of schedules, and that a rank of a million takes no more memory than one of ten.
#include "runtime/schedules/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "proofs.h"
#include "runtime/schedules/algorithms.h"

namespace {

// Bytes allocated by the whole program, and their maximum. Atomic because other tests have threads.
std::atomic<std::size_t> allocated = 0;
std::atomic<std::size_t> most_allocated = 0;

}  // namespace

// Sanitizers have their own heap.
#ifdef HUDDLE_COUNTS_HEAP
// The size of a block is stored in front of it.
static constexpr std::size_t head = alignof(std::max_align_t);

void* operator new(std::size_t bytes) {
  auto* const begin = static_cast<std::byte*>(std::malloc(bytes + head));
  if (begin == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(begin) = bytes;
  const std::size_t now = allocated += bytes;
  if (now > most_allocated) most_allocated = now;
  return begin + head;
}
void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  std::byte* const begin = static_cast<std::byte*>(block) - head;
  allocated -= *reinterpret_cast<std::size_t*>(begin);
  std::free(begin);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
#endif

namespace huddle::schedules {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> listed(const Blocks& blocks) {
  std::vector<std::int64_t> list;
  for_each_block(blocks, [&list](std::int64_t block) { list.push_back(block); });
  return list;
}

TEST(Blocks, WrapAround) {
  EXPECT_THAT(listed(Blocks::interval(3, 2)), ElementsAre(3, 4));
  EXPECT_THAT(listed(Blocks::circular(6, 3, 8)), ElementsAre(6, 7, 0));
  EXPECT_THAT(listed(Blocks::circular(-2, 3, 8)), ElementsAre(6, 7, 0));
  EXPECT_THAT(listed(Blocks::strided(5, 3, 3, 9)), ElementsAre(5, 8, 2));
  EXPECT_THAT(listed(Blocks::strided(1, -4, 3, 11)), ElementsAre(1, 8, 4));
  EXPECT_TRUE(Blocks::circular(4, 0, 8).empty());
  EXPECT_EQ(Blocks::circular(0, 8, 8), Blocks::interval(0, 8));
}

std::vector<std::int64_t> round_circle(const Run& run, std::int64_t modulo) {
  Blocks blocks;
  blocks.add_circular(run, modulo);
  return listed(blocks);
}

TEST(Blocks, IntervalsWrapAround) {
  EXPECT_THAT(round_circle({6, 3, 3, 5}, 16), ElementsAre(6, 7, 8, 11, 12, 13, 0, 1, 2));
  EXPECT_THAT(round_circle({6, 3, 2, 8}, 16), ElementsAre(6, 7, 8, 14, 15, 0));
  EXPECT_THAT(round_circle({1, 3, 2, -5}, 10), ElementsAre(1, 2, 3, 6, 7, 8));
  EXPECT_THAT(round_circle({3, 2, 3, -4}, 12), ElementsAre(3, 4, 11, 0, 7, 8));
  EXPECT_THAT(round_circle({-1, 2, 2, 4}, 10), ElementsAre(9, 0, 3, 4));
  EXPECT_TRUE(round_circle({5, 2, 0, 4}, 10).empty());
}

TEST(Blocks, PrintAsIntervals) {
  EXPECT_EQ(Blocks::circular(6, 4, 8).text(), "6..7 0..1");
  EXPECT_EQ(Blocks::strided(0, 4, 16, 64).text(), "0 4 8 ... 60");
}

TEST(Sizes, SumOverBlocks) {
  EXPECT_EQ(Sizes::equal(8).bytes(Blocks::strided(5, 3, 3, 9)), 24U);
  const Sizes cut = Sizes::cut(10, 4, 3);
  EXPECT_EQ(cut.bytes(0) + cut.bytes(1) + cut.bytes(2), 40U);
  EXPECT_EQ(cut.bytes(Blocks::circular(2, 2, 3)), cut.bytes(2) + cut.bytes(0));
  const std::vector<std::size_t> bytes = {3, 0, 5};
  EXPECT_EQ(Sizes::listed(bytes).bytes(Blocks::interval(1, 2)), 5U);
}

class OfAMillion : public ::testing::TestWithParam<Algorithm> {};

// Computes the first and the last 1,000 rounds in which a rank is active.
TEST_P(OfAMillion, RankTakesLittleMemory) {
  constexpr int ranks = 1 << 20;
  constexpr std::size_t most = 65536;
  const std::size_t before = allocated;
  most_allocated = before;
  std::int64_t messages = 0;
  {
    const auto schedule = make_schedule(
        GetParam(), {.ranks = ranks, .root = 12345, .segments = 5000, .message_blocks = 64});
    for (const int rank : {0, 1, ranks / 3, ranks - 2, ranks - 1}) {
      Round round;
      const RoundSpan active = schedule->active(rank);
      const auto make = [&](std::int64_t number) {
        schedule->make(rank, number, round);
        messages += static_cast<std::int64_t>(round.sends.size() + round.receives.size());
      };
      const std::int64_t middle = std::min(active.first + 1000, active.last);
      for (std::int64_t i = active.first; i < middle; ++i) make(i);
      for (std::int64_t i = std::max(middle, active.last - 1000); i < active.last; ++i) make(i);
      (void)schedule->traffic(rank);
    }
  }
  EXPECT_LE(most_allocated - before, most);
  EXPECT_GT(messages, 0);
}

INSTANTIATE_TEST_SUITE_P(Net, OfAMillion,
                         ::testing::ValuesIn(algorithms().begin(), algorithms().end()), test_name);

}  // namespace
}  // namespace huddle::schedules
