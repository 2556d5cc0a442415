// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/copy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace huddle::memory {
namespace {

constexpr std::byte guard{0xA5};
constexpr std::size_t guard_bytes = 128;

std::vector<std::byte> pattern(std::size_t n, unsigned seed) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(seed + i * 7 + i / 251);
  return bytes;
}

// Copies n bytes between the given offsets from a cache line start, and returns whether exactly
// these bytes changed.
bool copies_exactly(CopyKernel kernel, std::size_t n, std::size_t target_offset,
                    std::size_t source_offset) {
  const auto source = pattern(n + source_offset, 3);
  std::vector<std::byte> area(n + target_offset + 2 * guard_bytes, guard);
  std::byte* base = area.data() + guard_bytes - reinterpret_cast<std::uintptr_t>(area.data()) % 64;
  std::byte* target = base + target_offset;
  copy_bytes(kernel, target, source.data() + source_offset, n);
  if (!std::equal(target, target + n, source.data() + source_offset)) return false;
  const auto is_guard = [](std::byte b) { return b == guard; };
  return std::all_of(area.data(), target, is_guard) &&
         std::all_of(target + n, area.data() + area.size(), is_guard);
}

TEST(CopyBytes, CopiesUpToFiveCacheLinesAtEveryOffset) {
  for (const CopyKernel kernel : copy_kernels) {
    for (std::size_t n = 0; n <= 320; ++n) {
      for (const std::size_t offset : {0U, 1U, 15U, 16U, 63U}) {
        ASSERT_TRUE(copies_exactly(kernel, n, offset, 64 - offset))
            << name(kernel) << " n=" << n << " offset=" << offset;
      }
    }
  }
}

RC_GTEST_PROP(CopyBytes, CopiesExactlyTheGivenBytes, ()) {
  const auto kernel = *rc::gen::elementOf(copy_kernels);
  const auto n = *rc::gen::inRange<std::size_t>(0, 70000);
  const auto target_offset = *rc::gen::inRange<std::size_t>(0, 64);
  const auto source_offset = *rc::gen::inRange<std::size_t>(0, 64);
  RC_ASSERT(copies_exactly(kernel, n, target_offset, source_offset));
}

TEST(CopyBytes, CopiesInterleavedPagesAndRemainder) {
  for (const std::size_t n : {8191U, 8192U, 16383U, 16384U, 16385U, 24576U + 100U, 40960U + 1U}) {
    EXPECT_TRUE(copies_exactly(CopyKernel::interleaved, n, 1, 5)) << n;
  }
}

TEST(KernelBySize, HasKernelForEverySize) {
  KernelBySize kernels(CopyKernel::plain);
  kernels.set(12, CopyKernel::interleaved);
  for (const std::size_t n : {0UL, 1UL, 4095UL, 8192UL, ~0UL}) {
    EXPECT_EQ(kernels.of(n), CopyKernel::plain) << n;
  }
  for (const std::size_t n : {4096UL, 8191UL})
    EXPECT_EQ(kernels.of(n), CopyKernel::interleaved) << n;
}

// The stores to the source must not change it.
RC_GTEST_PROP(TakeBytes, CopiesExactlyAndKeepsSource, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(0, 1000);
  const auto offset = *rc::gen::inRange<std::size_t>(0, 64);
  auto source = pattern(n + offset + guard_bytes, 3);
  const auto before = source;
  std::vector<std::byte> target(n + guard_bytes, guard);
  read_and_own(target.data(), source.data() + offset, n);
  RC_ASSERT(source == before);
  RC_ASSERT(std::equal(target.begin(), target.end() - guard_bytes,
                       source.begin() + static_cast<std::ptrdiff_t>(offset)));
  RC_ASSERT(std::all_of(target.end() - guard_bytes, target.end(),
                        [](std::byte b) { return b == guard; }));
}

TEST(KeepBytes, DoesNotChangeBytes) {
  for (const std::size_t n : {0U, 1U, 63U, 64U, 65U, 1000U}) {
    auto bytes = pattern(n + 1, 3);
    const auto before = bytes;
    write_and_keep(bytes.data() + 1, n);
    EXPECT_EQ(bytes, before);
  }
}

TEST(CopyBytes, AcceptsNullForZeroBytes) {
  for (const CopyKernel kernel : copy_kernels) copy_bytes(kernel, nullptr, nullptr, 0);
}

// A thread that acquires the flag sees the whole copy, including streaming stores.
TEST(CopyBytes, IsOrderedByReleaseStore) {
  constexpr std::size_t n = 8192;
  constexpr unsigned rounds = 200;
  for (const CopyKernel kernel : copy_kernels) {
    std::vector<std::byte> shared(n);
    std::atomic<unsigned> written{0};
    std::atomic<unsigned> seen{0};
    std::thread writer([&] {
      for (unsigned round = 1; round <= rounds; ++round) {
        const auto fresh = pattern(n, round);
        copy_bytes(kernel, shared.data(), fresh.data(), n);
        written.store(round, std::memory_order_release);
        while (seen.load(std::memory_order_acquire) != round) std::this_thread::yield();
      }
    });
    unsigned stale = 0;
    for (unsigned round = 1; round <= rounds; ++round) {
      while (written.load(std::memory_order_acquire) != round) std::this_thread::yield();
      stale += shared == pattern(n, round) ? 0 : 1;
      seen.store(round, std::memory_order_release);
    }
    writer.join();
    EXPECT_EQ(stale, 0U) << name(kernel);
  }
}

TEST(CopyKernels, ReportWhichAreNative) {
  EXPECT_TRUE(is_native(CopyKernel::plain));
#if defined(__x86_64__)
  for (const CopyKernel kernel : copy_kernels) EXPECT_TRUE(is_native(kernel)) << name(kernel);
#else
  EXPECT_FALSE(is_native(CopyKernel::nontemporal));
#endif
}

// All tiny sizes: copies exactly n bytes.
TEST(Copy, TinySizesAreCopiedExactly) {
  for (std::size_t n = 0; n <= 32; ++n) {
    if (!is_tiny(n)) continue;
    std::array<std::byte, 40> from{};
    std::array<std::byte, 40> to{};
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
    copy_tiny(to.data() + 3, from.data() + 1, n);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool inside = i >= 3 && i < 3 + n;
      EXPECT_EQ(to[i], inside ? from[i - 2] : std::byte{0}) << n << " at " << i;
    }
  }
}

}  // namespace
}  // namespace huddle::memory
