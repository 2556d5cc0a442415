// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/arithmetic.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/heap.h"

namespace huddle::memory {
namespace {

constexpr std::size_t checked_cap_bytes = 64 * MiB;

Heap checked_heap() {
  return Heap(checked_cap_bytes, Heap::usual_most_copied_bytes, Heap::Care::checked);
}

volatile std::byte* checked_bytes_at(void* block) {
  return static_cast<volatile std::byte*>(block);
}

TEST(CheckedHeap, BlocksAreUsable) {
  Heap heap = checked_heap();
  for (const std::size_t bytes : {1, 16, 100, 4095, 4096, 4097, 100'000, 5'000'000}) {
    for (const std::size_t alignment : {1, 16, 64, 128, 4096, 65536}) {
      void* const block = heap.allocate(bytes, alignment);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
      EXPECT_EQ(heap.bytes_of(block), bytes);
      std::memset(block, 1, bytes);
      EXPECT_TRUE(heap.free(block));
    }
  }
  EXPECT_EQ(heap.used_bytes(), 0U);
}

TEST(CheckedHeap, ZeroesOnlyOnRequest) {
  Heap heap = checked_heap();
  const auto last_byte = [&](Heap::Content content) {
    return static_cast<const std::byte*>(heap.allocate(100, 1, content))[99];
  };
  EXPECT_EQ(last_byte(Heap::Content::zero), std::byte{0});
  EXPECT_NE(last_byte(Heap::Content::any), std::byte{0});
}

// A child of fork() does not inherit the heap, so each death test creates its own.

TEST(CheckedHeapDeathTest, AccessBeyondBlockFaults) {
  EXPECT_EXIT(
      {
        Heap heap = checked_heap();
        void* const block = heap.allocate(160'000);
        checked_bytes_at(block)[159'999] = std::byte{1};
        std::fputs("so far", stderr);
        checked_bytes_at(block)[160'000] = std::byte{1};
      },
      ::testing::KilledBySignal(SIGSEGV), "so far");
}

// The access lies in the padding before the guard page.
TEST(CheckedHeapDeathTest, ReportsOverwrittenPaddingOnFree) {
  EXPECT_EXIT(
      {
        Heap heap = checked_heap();
        void* const block = heap.allocate(160'003);
        checked_bytes_at(block)[160'003] = std::byte{1};
        heap.free(block);
      },
      ::testing::KilledBySignal(SIGABRT),
      "wrote beyond the end of an allocated block: the block of 160003 bytes");
}

TEST(CheckedHeapDeathTest, AccessAfterFreeFaults) {
  EXPECT_EXIT(
      {
        Heap heap = checked_heap();
        void* const block = heap.allocate(100'000);
        if (heap.free(block) && !heap.free(block)) std::fputs("so far", stderr);
        checked_bytes_at(block)[0] = std::byte{1};
      },
      ::testing::KilledBySignal(SIGSEGV), "so far");
}

// A peer has its own mapping, which the owner cannot protect.
TEST(CheckedHeapDeathTest, DetectsPeerAccessAfterFree) {
  EXPECT_EXIT(
      {
        Heap heap = checked_heap();
        const ArenaView peers(heap.facts().descriptor, checked_cap_bytes);
        auto* const block = static_cast<std::byte*>(heap.allocate(100'000));
        volatile std::byte* const theirs = peers.base() + (block - heap.facts().base);
        theirs[0] = std::byte{1};
        if (*block != std::byte{1} || !heap.free(block)) std::exit(1);
        heap.check_freed();
        std::fputs("so far", stderr);
        theirs[50'000] = std::byte{1};
        heap.check_freed();
      },
      ::testing::KilledBySignal(SIGABRT),
      "so farhuddle: heap: another rank accessed memory after it was freed");
}

TEST(CheckedHeap, ReusesAddressesOnceNoneAreLeft) {
  Heap heap = checked_heap();
  for (std::size_t all = 0; all < 4 * checked_cap_bytes; all += 5 * MiB) {
    void* const block = heap.allocate(5 * MiB);
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, 5 * MiB);
    ASSERT_TRUE(heap.free(block));
  }
}

}  // namespace
}  // namespace huddle::memory
