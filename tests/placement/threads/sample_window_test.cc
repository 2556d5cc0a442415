// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/protection.h"

#include <gmock/gmock.h>

#include <set>

namespace huddle::threads {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, page = 4 * kib;

TEST(WritableRanges, AreWritableMemoryWithoutMappedFiles) {
  EXPECT_THAT(
      writable_ranges({"55d0c000-55d0d000 r-xp 00000000 fe:00 1   /usr/bin/app",
                       "55d0d000-55d0f000 rw-p 00001000 fe:00 1   /usr/bin/app",
                       "55e00000-55e21000 rw-p 00000000 00:00 0   [heap]",
                       "7f000000-7f001000 rw-s 00000000 fe:00 9   /tmp/shared",
                       "7f010000-7f011000 rw-s 00000000 00:01 9   /dev/zero (deleted)",
                       "7f020000-7f021000 rw-s 00000000 00:01 9   /dev/shm/queue",
                       "7f030000-7f031000 rw-s 00000000 00:01 9   /memfd:pool (deleted)",
                       "7f040000-7f041000 rw-s 00000000 00:01 9   /SYSV00000001 (deleted)",
                       "7f050000-7f051000 rw-s 00000000 00:01 9   /dev/infiniband/uverbs0",
                       "7f060000-7f061000 rw-s 00000000 00:01 9   anon_inode:[perf_event]",
                       "7f070000-7f071000 r--s 00000000 00:01 9   /dev/shm/table",
                       "7f100000-7f101000 rw-p 00000000 00:05 9   /dev/gpu",
                       "7f200000-7f300000 rw-p 00000000 00:00 0 ",
                       "7ffd0000-7ffd1000 rw-p 00000000 00:00 0   [vvar]", "nonsense", ""}),
      ElementsAre(AddressRange{0x55d0d000, 0x55d0f000}, AddressRange{0x55e00000, 0x55e21000},
                  AddressRange{0x7f010000, 0x7f011000}, AddressRange{0x7f020000, 0x7f021000},
                  AddressRange{0x7f030000, 0x7f031000}, AddressRange{0x7f040000, 0x7f041000},
                  AddressRange{0x7f200000, 0x7f300000}));
}

// A program with all pages present, of which one in `written_every` is always written to.
class Memory {
 public:
  Memory(std::vector<AddressRange> ranges, std::uint64_t written_every) : every_(written_every) {
    window.set_ranges(std::move(ranges));
  }
  // Returns the ranges that one call scanned.
  std::vector<AddressRange> call(int budget) {
    std::vector<AddressRange> parts;
    const bool first = window.is_first_pass();
    const int most = window.most_pages(budget);
    int left = most;
    while (left > 0) {
      auto part = window.next();
      if (!part) break;
      std::uint64_t at = part->start;
      for (; at < part->end && left > 0; at += page) {
        if (first || at / page % every_ == 0) --left;
      }
      part->end = at;
      window.advance(part->bytes());
      parts.push_back(*part);
    }
    window.finish_call(most - left, most);
    return parts;
  }

  SampleWindow window;

 private:
  std::uint64_t every_;
};

TEST(SampleWindow, HoldsAllMemoryIfThereIsLittle) {
  const std::vector<AddressRange> ranges = {{64 * kib, 128 * kib}, {512 * kib, 520 * kib}};
  Memory memory(ranges, 1);
  EXPECT_TRUE(memory.window.is_first_pass());
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(memory.call(100), ranges);
    EXPECT_FALSE(memory.window.is_first_pass());  // no further first pass
  }
}

// Visits all memory, and grows if calls find little.
TEST(SampleWindow, MovesOverAllMemory) {
  Memory memory({{0, 3 * mib}, {16 * mib, 21 * mib}}, 1000);
  std::set<std::uint64_t> seen;
  std::uint64_t most_bytes = 0;
  for (int i = 0; i < 200; ++i) {
    std::uint64_t bytes = 0;
    for (const AddressRange& part : memory.call(100)) {
      bytes += part.bytes();
      for (std::uint64_t at = part.start; at < part.end; at += page) seen.insert(at);
    }
    if (i == 0) {
      EXPECT_EQ(bytes, mib);
    }
    most_bytes = std::max(most_bytes, bytes);
  }
  EXPECT_EQ(seen.size(), 8 * mib / page);
  EXPECT_EQ(most_bytes, 8 * mib);
}

// A pass that takes many calls visits each page too rarely.
TEST(SampleWindow, ShrinksIfMuchIsFound) {
  Memory memory({{0, 64 * mib}}, 1);
  std::uint64_t most_bytes = 0;
  for (int call = 0; call < 5000; ++call) {
    const bool first = memory.window.is_first_pass();
    for (const AddressRange& part : memory.call(8)) {
      if (first && call > 4000) most_bytes = std::max(most_bytes, part.bytes());
    }
  }
  EXPECT_GT(most_bytes, 0U);
  EXPECT_LE(most_bytes, 3 * 8 * page);
}

// Memory that is not written to does not hold up the window.
TEST(SampleWindow, LeavesMemoryThatIsNotWritten) {
  Memory memory({{mib, 64 * mib}}, 1'000'000'007);
  memory.call(100);
  for (int call = 0; call < 2; ++call) memory.call(100);
  EXPECT_TRUE(memory.window.is_first_pass());
  EXPECT_EQ(memory.window.next()->start, 2 * mib);
}

TEST(SampleWindow, ContinuesAsMemoryChanges) {
  Memory memory({{0, 64 * mib}}, 10);
  for (int i = 0; i < 100; ++i) memory.call(50);
  memory.window.set_ranges({{0, 8 * kib}});
  EXPECT_THAT(memory.call(50), ElementsAre(AddressRange{0, 8 * kib}));
  memory.window.set_ranges({});
  EXPECT_FALSE(memory.window.next());
  EXPECT_TRUE(memory.call(50).empty());
}

}  // namespace
}  // namespace huddle::threads
