// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/memory_counters.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

namespace huddle::threads {
namespace {

TEST(MemoryCounters, UsesOnlyEventsThatCountLinesFromMemory) {
  EXPECT_EQ(memory_line_event("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"),
            (LineEvent{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}));
  EXPECT_EQ(memory_line_event("vendor_id\t: AuthenticAMD\ncpu family\t: 25\n"),
            (LineEvent{PERF_TYPE_RAW, 0x4844}));
  EXPECT_EQ(memory_line_event("vendor_id\t: AuthenticAMD\ncpu family\t: 23\n"), std::nullopt);
  EXPECT_EQ(memory_line_event("CPU implementer\t: 0x41\n"), std::nullopt);
}

// Page faults are counted on every machine, and stand for lines here.
TEST(MemoryCounters, CountsEventsOfThreadSinceFirstCall) {
  MemoryCounters counters(LineEvent{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS});
  const std::optional<std::uint64_t> first = counters.bytes(::gettid());
  if (!first) GTEST_SKIP() << "perf_event_open() is not permitted here";
  constexpr std::size_t pages = 1000;
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, pages * page_bytes, MADV_NOHUGEPAGE);
  for (std::size_t page = 0; page < pages; ++page) {
    static_cast<volatile char*>(memory)[page * page_bytes] = 1;
  }
  EXPECT_GE(*counters.bytes(::gettid()) - *first, pages * 64);
  EXPECT_TRUE(counters.works());
  ::munmap(memory, pages * page_bytes);
}

TEST(MemoryCounters, UnavailableEventsCountNothing) {
  MemoryCounters unknown(std::nullopt);
  EXPECT_EQ(unknown.bytes(::gettid()), std::nullopt);
  EXPECT_FALSE(unknown.works());
  MemoryCounters invalid(LineEvent{PERF_TYPE_SOFTWARE, 1U << 20U});
  EXPECT_EQ(invalid.bytes(::gettid()), std::nullopt);
  EXPECT_FALSE(invalid.works());
}

}  // namespace
}  // namespace huddle::threads
