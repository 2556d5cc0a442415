// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/heap.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "../../common/fake_system.h"
#include "common/arithmetic.h"
#include "common/error.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

constexpr std::size_t heap_cap_bytes = 1024 * MiB;

std::size_t memory_bytes(const Heap& heap) {
  struct stat info {};
  fstat(heap.facts().descriptor, &info);
  return static_cast<std::size_t>(info.st_blocks) * 512;
}

std::size_t file_bytes(const Heap& heap) {
  struct stat info {};
  fstat(heap.facts().descriptor, &info);
  return static_cast<std::size_t>(info.st_size);
}

rlimit file_size_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  return limit;
}
void set_file_size_limit(const rlimit& limit) { ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0); }

std::byte* bytes_at(void* block) { return static_cast<std::byte*>(block); }

TEST(Heap, BlocksAreUsableAndDoNotOverlap) {
  Heap heap(heap_cap_bytes);
  std::vector<void*> blocks;
  for (std::size_t i = 1; i < 100; ++i) {
    blocks.push_back(heap.allocate(1000 * i));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % Heap::least_alignment, 0U);
    EXPECT_GE(heap.bytes_of(blocks.back()), 1000 * i);
    std::memset(blocks.back(), static_cast<int>(i), 1000 * i);
  }
  for (std::size_t i = 1; i < 100; ++i) {
    EXPECT_EQ(bytes_at(blocks[i - 1])[0], std::byte(i));
    EXPECT_EQ(bytes_at(blocks[i - 1])[1000 * i - 1], std::byte(i));
  }
  for (void* block : blocks) heap.free(block);
  EXPECT_EQ(heap.used_bytes(), 0U);
}

// mlockall() would allocate memory for all pages of the file.
TEST(Heap, FileEndsShortlyAfterBlocks) {
  constexpr std::size_t beyond = 16 * MiB;
  Heap heap(heap_cap_bytes);
  EXPECT_EQ(file_bytes(heap), page_bytes());
  void* const block = heap.allocate(100 * MiB);
  EXPECT_LE(file_bytes(heap), 100 * MiB + beyond);
  bytes_at(block)[100 * MiB - 1] = std::byte{1};
  ASSERT_TRUE(heap.grow(block, 300 * MiB));
  EXPECT_LE(file_bytes(heap), 300 * MiB + beyond);
  bytes_at(block)[300 * MiB - 1] = std::byte{1};
}

TEST(Heap, ReturnsNullIfFileCannotGrow) {
  const rlimit all = file_size_limit();
  Heap heap(heap_cap_bytes);
  set_file_size_limit({20 * MiB, all.rlim_max});
  void* const fits = heap.allocate(MiB);
  EXPECT_NE(fits, nullptr);
  EXPECT_EQ(heap.allocate(20 * MiB), nullptr);
  EXPECT_FALSE(heap.grow(fits, 20 * MiB));
  set_file_size_limit(all);
  EXPECT_NE(heap.allocate(20 * MiB), nullptr);
}

TEST(Heap, ClearsPages) {
  Heap heap(heap_cap_bytes);
  auto* const block = bytes_at(heap.allocate(MiB, page_bytes()));
  std::memset(block, 1, MiB);
  const std::size_t before = memory_bytes(heap);
  const auto at = reinterpret_cast<std::uintptr_t>(block);
  EXPECT_TRUE(heap.clear({at + page_bytes(), MiB / 2}));
  EXPECT_LE(memory_bytes(heap), before - MiB / 2);
  EXPECT_EQ(block[page_bytes() - 1], std::byte{1});
  EXPECT_EQ(block[page_bytes()], std::byte{0});
  EXPECT_EQ(block[page_bytes() + MiB / 2 - 1], std::byte{0});
  EXPECT_EQ(block[page_bytes() + MiB / 2], std::byte{1});
}

TEST(Heap, RecognisesItsAddresses) {
  Heap heap(heap_cap_bytes);
  std::byte outside{};
  auto* block = bytes_at(heap.allocate(MiB));
  EXPECT_TRUE(heap.holds(block));
  EXPECT_TRUE(heap.holds(block + MiB - 1));
  EXPECT_FALSE(heap.holds(&outside));
  EXPECT_FALSE(heap.holds(nullptr));
  const HeapFacts facts = heap.facts();
  EXPECT_FALSE(heap.holds(facts.base + facts.cap_bytes));
}

TEST(Heap, AlignsAsRequested) {
  Heap heap(heap_cap_bytes);
  for (const std::size_t alignment : {std::size_t{1}, page_bytes(), 2 * MiB}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(heap.allocate(5000, alignment)) % alignment, 0U);
  }
}

TEST(Heap, AllocatesMemoryOnFirstTouch) {
  Heap heap(heap_cap_bytes);
  const std::size_t before = memory_bytes(heap);
  auto* block = bytes_at(heap.allocate(100 * MiB));
  EXPECT_EQ(memory_bytes(heap), before);
  block[50 * MiB] = std::byte{1};
  EXPECT_LE(memory_bytes(heap), before + 2 * MiB);
}

TEST(Heap, ZeroesReusedMemoryOnRequest) {
  Heap heap(heap_cap_bytes);
  void* block = heap.allocate(MiB);
  std::memset(block, 1, MiB);
  heap.free(block);
  auto* again = bytes_at(heap.allocate(MiB, 1, Heap::Content::zero));
  // EXPECT_EQ would print the pointers, which the static analyzer takes for a use of freed memory.
  EXPECT_TRUE(again == block);
  EXPECT_EQ(std::count(again, again + MiB, std::byte{0}), MiB);
}

TEST(Heap, GrowsBlocksInPlace) {
  Heap heap(16 * MiB);
  std::vector<void*> blocks(5);
  for (void*& block : blocks) block = heap.allocate(MiB);
  std::memset(blocks[0], 1, MiB);
  EXPECT_FALSE(heap.grow(blocks[0], MiB + 1));
  heap.free(blocks[1]);
  EXPECT_TRUE(heap.grow(blocks[0], 2 * MiB));
  EXPECT_EQ(heap.bytes_of(blocks[0]), 2 * MiB);
  EXPECT_FALSE(heap.grow(blocks[0], 2 * MiB + 1));
  EXPECT_TRUE(heap.grow(blocks[4], 10 * MiB));
  EXPECT_FALSE(heap.grow(blocks[4], 100 * MiB));
  EXPECT_EQ(heap.used_bytes(), 14 * MiB);
  std::memset(bytes_at(blocks[0]) + MiB, 2, MiB);
  std::memset(blocks[4], 3, 10 * MiB);
  EXPECT_EQ(std::count(bytes_at(blocks[0]), bytes_at(blocks[0]) + MiB, std::byte{1}), MiB);
  for (const int i : {0, 2, 3, 4}) EXPECT_TRUE(heap.free(blocks[i]));
  EXPECT_EQ(heap.used_bytes(), 0U);
  EXPECT_NE(heap.allocate(15 * MiB), nullptr);
}

// The heap may keep as much again as it has in blocks for later blocks, and little more.
TEST(Heap, ReturnsMemoryToSystem) {
  Heap heap(heap_cap_bytes);
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) {
    blocks.push_back(heap.allocate(MiB));
    std::memset(blocks.back(), 1, MiB);
  }
  EXPECT_GE(memory_bytes(heap), 200 * MiB);
  while (blocks.size() > 10) {
    heap.free(blocks.back());
    blocks.pop_back();
  }
  EXPECT_LE(memory_bytes(heap), 86 * MiB);
  EXPECT_LE(memory_bytes(heap), heap.held_bytes() + MiB);
  for (void* block : blocks) heap.free(block);
  EXPECT_LE(memory_bytes(heap), 66 * MiB);
}

TEST(Heap, ReturnsNullIfFull) {
  Heap heap(16 * MiB);
  EXPECT_EQ(heap.allocate(17 * MiB), nullptr);
  EXPECT_EQ(heap.allocate(SIZE_MAX), nullptr);
  void* block = heap.allocate(15 * MiB);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(heap.allocate(2 * MiB), nullptr);
  heap.free(block);
  EXPECT_NE(heap.allocate(15 * MiB), nullptr);
  EXPECT_THROW(Heap(100), InputError);
}

TEST(Heap, MergesFreeParts) {
  Heap heap(16 * MiB);
  std::vector<void*> blocks(15);
  for (void*& block : blocks) block = heap.allocate(MiB);
  for (void* block : blocks) heap.free(block);
  EXPECT_NE(heap.allocate(15 * MiB), nullptr);
}

TEST(Heap, CanBeMappedFromDescriptor) {
  Heap heap(heap_cap_bytes);
  const HeapFacts facts = heap.facts();
  auto* block = bytes_at(heap.allocate(MiB));
  block[5] = std::byte{7};
  EXPECT_TRUE(is_arena(facts.descriptor, facts.id, facts.cap_bytes));
  const ArenaView view(facts.descriptor, facts.cap_bytes);
  EXPECT_EQ(view.base()[block + 5 - facts.base], std::byte{7});
}

TEST(Heap, IsThreadSafe) {
  Heap heap(heap_cap_bytes);
  const auto work = [&heap](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<std::byte*, std::size_t>> mine;
    for (int i = 0; i < 5000; ++i) {
      if (mine.size() > 20 || (!mine.empty() && random() % 2 == 0)) {
        std::swap(mine[random() % mine.size()], mine.back());
        const auto [block, bytes] = mine.back();
        EXPECT_EQ(block[0], std::byte(seed));
        EXPECT_EQ(block[bytes - 1], std::byte(seed));
        heap.free(block);
        mine.pop_back();
      } else {
        const std::size_t bytes = 1 + random() % 200'000;
        auto* block = bytes_at(heap.allocate(bytes));
        block[0] = block[bytes - 1] = std::byte(seed);
        mine.emplace_back(block, bytes);
      }
    }
    for (const auto& [block, bytes] : mine) heap.free(block);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heap.used_bytes(), 0U);
}

TEST(Heap, KeepsLittleOfALargeFreedBlock) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  Heap heap(8 * gibibyte);
  void* const live = heap.allocate(3 * gibibyte);
  void* const temporary = heap.allocate(gibibyte);
  ASSERT_NE(live, nullptr);
  ASSERT_NE(temporary, nullptr);
  heap.free(temporary);
  EXPECT_LT(heap.held_bytes(), heap.used_bytes() + gibibyte);
}

TEST(HeapLimits, RejectKernelWithoutOvercommit) {
  for (const std::string_view mode : {"0\n", "1\n"}) {
    EXPECT_NO_THROW(
        check_heap_limits(FakeSystem().file("/proc/sys/vm/overcommit_memory", mode).system()));
  }
  EXPECT_NO_THROW(check_heap_limits(FakeSystem().system()));
  FakeSystem strict;
  strict.file("/proc/sys/vm/overcommit_memory", "2\n");
  EXPECT_THROW(check_heap_limits(strict.system()), FailureError);
}

TEST(HeapLimits, RejectLimitedAddressSpace) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &usual), 0);
  const rlimit limited{rlim_t{1} << 46, usual.rlim_max};
  const System system = FakeSystem().system();
  EXPECT_NO_THROW(check_heap_limits(system));
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  EXPECT_THROW(check_heap_limits(system), FailureError);
  EXPECT_EQ(setrlimit(RLIMIT_AS, &usual), 0);
}

}  // namespace
}  // namespace huddle::memory
