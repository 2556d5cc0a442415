// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/page_sharing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "../../common/scratch.h"
#include "common/system.h"
#include "elf_file.h"

namespace huddle::threads {
namespace {

using testing::ElementsAre;

const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
constexpr std::uint64_t heap = 0x100, arena = 0x1000;  // page numbers
constexpr int process = 42;

class PageSharingTest : public testing::Test {
 protected:
  PageSharingTest() { write_maps({line(heap, 64, "[heap]"), line(arena, 64, "")}); }

  static std::string line(std::uint64_t page, std::uint64_t pages, const std::string& path) {
    return fmt::format("{:x}-{:x} rw-p 00000000 00:00 0 {}", page * page_bytes,
                       (page + pages) * page_bytes, path);
  }
  void write_maps(const std::vector<std::string>& lines) const {
    root_.write(fmt::format("proc/{}/maps", process), fmt::format("{}\n", fmt::join(lines, "\n")));
  }
  // Writes a file, and returns the line of its mapping. `wrong`: is added to the inode.
  std::string file_line(std::uint64_t page, const std::string& access, const std::string& contents,
                        const std::string& name = "app", std::uint64_t wrong = 0) const {
    const std::string path = root_.write(name, contents);
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return fmt::format("{:x}-{:x} {} 00000000 00:00 {} {}", page * page_bytes,
                       (page + 1) * page_bytes, access, status.st_ino + wrong, path);
  }
  // Returns a file with a variable in each of the pages from 1 on, which are in one segment.
  static std::string file_with(const std::vector<std::string>& variables) {
    ElfTable table;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      table.variables.push_back({variables[i], (i + 1) * page_bytes, page_bytes});
    }
    const std::uint64_t bytes = variables.size() * page_bytes;
    return elf_file({writable_segment(0, page_bytes, bytes, page_bytes)}, {table});
  }
  System system() const { return System(root_.folder().string()); }
  // Passes the page `times` times from thread `b` to thread `a`.
  static void pass(PageSharing& sharing, std::uint64_t page, int a, int b, int times = 1) {
    const std::array<int, 1> partners = {b};
    for (int i = 0; i < times; ++i) {
      sharing.take({.thread = a, .page = page, .offset = 8, .process = process}, partners);
    }
  }
  static std::vector<SharedRange> ranges_of(const PageSharing& sharing, int threads = 16) {
    std::vector<int> all(static_cast<std::size_t>(threads));
    std::iota(all.begin(), all.end(), 0);
    return sharing.memory_of(all).ranges;
  }
  static AddressRange pages(std::uint64_t first, std::uint64_t count) {
    return {first * page_bytes, (first + count) * page_bytes};
  }

  test::Scratch root_;
};

TEST_F(PageSharingTest, NamesTheMappingAndThePairs) {
  PageSharing sharing(system());
  pass(sharing, heap, 1, 0, 3);
  pass(sharing, arena, 2, 3, 5);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].events, 5U);
  EXPECT_EQ(ranges[0].mapping, "");
  EXPECT_EQ(ranges[0].addresses, pages(arena, 1));
  EXPECT_THAT(ranges[0].pairs, ElementsAre(PairEvents{2, 3, 5}));
  EXPECT_EQ(ranges[1].mapping, "[heap]");
  EXPECT_THAT(ranges[1].pairs, ElementsAre(PairEvents{0, 1, 3}));
}

TEST_F(PageSharingTest, TouchesWithoutPartnersAreNotCounted) {
  PageSharing sharing(system());
  sharing.take({.thread = 0, .page = heap, .process = process}, {});
  EXPECT_TRUE(ranges_of(sharing).empty());
}

TEST_F(PageSharingTest, MergesNeighboursOfTheSameThreads) {
  PageSharing sharing(system());
  for (const std::uint64_t page : {0, 1, 3}) pass(sharing, heap + page, 0, 1, 4);
  for (const std::uint64_t page : {4, 5}) pass(sharing, heap + page, 2, 3);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].addresses, pages(heap, 4));
  EXPECT_EQ(ranges[0].events, 12U);
  EXPECT_EQ(ranges[1].addresses, pages(heap + 4, 2));
}

// The thread that initialized the memory has few events with its users.
TEST_F(PageSharingTest, RarePairsDoNotSeparateNeighbours) {
  PageSharing sharing(system());
  pass(sharing, heap, 1, 2, 40);
  pass(sharing, heap, 0, 1, 2);
  pass(sharing, heap + 1, 1, 2, 40);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_THAT(ranges[0].pairs, ElementsAre(PairEvents{1, 2, 80}, PairEvents{0, 1, 2}));
}

TEST_F(PageSharingTest, MergesTheMappingIfItHasTooManyRanges) {
  PageSharing sharing(system());
  for (int page = 0; page < 16; ++page) {
    pass(sharing, heap + static_cast<std::uint64_t>(page), page % 2, 2 + page % 3);
  }
  pass(sharing, arena, 0, 1, 2);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].addresses, pages(heap, 16));
  EXPECT_EQ(ranges[0].events, 16U);
  EXPECT_EQ(ranges[0].pairs.size(), 6U);
}

TEST_F(PageSharingTest, LeavesOutPairsOfOtherThreads) {
  PageSharing sharing(system());
  pass(sharing, heap, 0, 1, 3);
  pass(sharing, heap, 0, 9, 3);
  pass(sharing, arena, 0, 9, 3);
  const std::vector<int> threads = {0, 1};
  const SharedMemory memory = sharing.memory_of(threads);
  EXPECT_EQ(memory.events, 3U);
  ASSERT_EQ(memory.ranges.size(), 1U);
  EXPECT_EQ(memory.ranges[0].mapping, "[heap]");
}

TEST_F(PageSharingTest, ListsTheRangesWithTheMostEvents) {
  std::vector<std::string> lines;
  for (std::uint64_t i = 1; i <= 20; ++i) lines.push_back(line(0x100 * i, 16, ""));
  write_maps(lines);
  PageSharing sharing(system());
  for (int i = 1; i <= 20; ++i) pass(sharing, 0x100 * static_cast<std::uint64_t>(i), 0, 1, i);
  const std::vector<int> threads = {0, 1};
  const SharedMemory memory = sharing.memory_of(threads);
  EXPECT_EQ(memory.events, 210U);
  ASSERT_EQ(memory.ranges.size(), PageSharing::most_ranges);
  EXPECT_EQ(memory.ranges.front().events, 20U);
  EXPECT_EQ(memory.ranges.back().events, 13U);
}

// No event is lost, but pages are counted in groups.
TEST_F(PageSharingTest, MemoryIsBounded) {
  constexpr std::size_t most_blocks = 16;
  PageSharing sharing(system(), most_blocks);
  for (std::uint64_t page = 0; page < 64; ++page) pass(sharing, heap + page, 0, 1);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].events, 64U);
  EXPECT_EQ(ranges[0].addresses, pages(heap, 64));
  EXPECT_LE(sharing.blocks(), most_blocks);
}

TEST_F(PageSharingTest, FurtherPairsOfABlockAreCountedInTotal) {
  PageSharing sharing(system());
  for (int thread = 1; thread < 16; ++thread) pass(sharing, heap, 0, thread);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].events, 15U);
  EXPECT_LT(ranges[0].pairs.size(), 15U);
}

TEST_F(PageSharingTest, FrequentPairsReplaceRareOnes) {
  PageSharing sharing(system());
  for (int thread = 1; thread < 10; ++thread) pass(sharing, heap, 0, thread);
  pass(sharing, heap, 11, 12, 20);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].events, 29U);
  ASSERT_FALSE(ranges[0].pairs.empty());
  EXPECT_EQ(ranges[0].pairs[0].a, 11);
  EXPECT_GE(ranges[0].pairs[0].events, 15U);
}

TEST_F(PageSharingTest, KeepsTheEventsOfManyPairs) {
  PageSharing sharing(system());
  for (int thread = 1; thread < 8; ++thread) pass(sharing, heap, 0, thread);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].events, 7U);
  EXPECT_TRUE(ranges[0].pairs.empty()) << "no pair is frequent";
}

TEST_F(PageSharingTest, ReadsTheMappingsAgainForUnknownAddressesAfterALook) {
  PageSharing sharing(system());
  pass(sharing, heap, 0, 1);
  constexpr std::uint64_t added = 0x2000;
  write_maps({line(arena, 64, ""), line(added, 4, "/dev/shm/later")});
  pass(sharing, added, 0, 1, 2);
  EXPECT_EQ(ranges_of(sharing)[0].mapping, std::nullopt);
  sharing.take(Look{});
  pass(sharing, added + 1, 0, 1, 2);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].mapping, "/dev/shm/later");
  EXPECT_EQ(ranges[0].events, 4U);
  EXPECT_EQ(ranges[1].mapping, "[heap]") << "unmapped in the meantime";
}

// The last events of a program arrive after its end.
TEST_F(PageSharingTest, ReadsTheMappingsOnceAProcessHasSeveralThreads) {
  PageSharing sharing(system());
  for (const int thread : {0, 1}) {
    sharing.take({.thread = thread, .page = heap, .process = process}, {});
  }
  write_maps({});
  pass(sharing, arena, 0, 1);
  ASSERT_EQ(ranges_of(sharing).size(), 1U);
  EXPECT_EQ(ranges_of(sharing)[0].mapping, "");
}

TEST_F(PageSharingTest, ProcessesAreDistinguished) {
  root_.write("proc/43/maps", line(heap, 4, "[stack]") + "\n");
  PageSharing sharing(system());
  pass(sharing, heap, 0, 1, 2);
  const std::array<int, 1> partners = {2};
  const std::uint64_t other = heap + (most_page_number + 1);
  sharing.take({.thread = 3, .page = other, .process = 43}, partners);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].mapping, "[heap]");
  EXPECT_EQ(ranges[1].mapping, "[stack]");
}

// The path may name another file in this mount namespace, or the file may have been replaced.
TEST_F(PageSharingTest, NamesVariablesOnlyIfTheFileIsTheMappedOne) {
  for (const std::uint64_t wrong : {0, 1}) {
    write_maps({file_line(arena, "rw-p", file_with({"counter"}), "app", wrong)});
    PageSharing sharing(system());
    pass(sharing, arena, 0, 1);
    ASSERT_EQ(ranges_of(sharing).size(), 1U);
    EXPECT_EQ(ranges_of(sharing)[0].symbols.empty(), wrong == 1);
  }
}

TEST_F(PageSharingTest, NamesZeroInitializedVariablesAfterReadOnlyData) {
  write_maps({file_line(arena, "r--p", file_with({"relocated", "zero"})), line(arena + 1, 1, "")});
  PageSharing sharing(system());
  pass(sharing, arena + 1, 0, 1);
  ASSERT_EQ(ranges_of(sharing).size(), 1U);
  EXPECT_THAT(ranges_of(sharing)[0].symbols, ElementsAre("zero"));
}

// A group of pages may contain the end of one file's memory and the start of another's.
TEST_F(PageSharingTest, NamesOnlyTheFileOfTheLowestAddress) {
  write_maps({file_line(arena, "rw-p", file_with({"first"}), "app"),
              file_line(arena + 1, "rw-p", file_with({"second"}), "library")});
  PageSharing sharing(system(), 1);
  for (const std::uint64_t page : {arena, arena + 1}) pass(sharing, page, 0, 1);
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].mapping, root_.path("app"));
  EXPECT_THAT(ranges[0].symbols, ElementsAre("first"));
}

TEST_F(PageSharingTest, NeverReadsTheMappingsAgainIfTheyAreTooMany) {
  constexpr std::uint64_t too_many = 65531;
  std::vector<std::string> lines;
  for (std::uint64_t i = 0; i < too_many; ++i) lines.push_back(line(arena + i, 1, ""));
  write_maps(lines);
  PageSharing sharing(system());
  pass(sharing, arena, 0, 1);
  EXPECT_EQ(ranges_of(sharing)[0].mapping, std::nullopt);
  write_maps({line(arena, 1, "")});
  sharing.take(Look{});
  pass(sharing, arena, 0, 1);
  EXPECT_EQ(ranges_of(sharing)[0].mapping, std::nullopt);
}

TEST_F(PageSharingTest, ForgetsTheEventsOfReassignedThreadNumbers) {
  PageSharing sharing(system());
  pass(sharing, heap, 0, 1, 3);
  pass(sharing, heap, 2, 3, 5);
  pass(sharing, arena, 1, 2, 7);
  sharing.take(Look{.threads = {}, .reused = {1}});
  const std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].events, 5U);
  EXPECT_THAT(ranges[0].pairs, ElementsAre(PairEvents{2, 3, 5}));
  EXPECT_EQ(sharing.blocks(), 1U);
}

TEST_F(PageSharingTest, LeavesOutFurtherPairsIfNoListedOneIsWanted) {
  PageSharing sharing(system());
  for (int thread = 1; thread < 16; ++thread) pass(sharing, heap, 0, thread, 10);
  pass(sharing, heap, 14, 15, 100);
  pass(sharing, arena, 1, 2);
  const std::vector<int> threads = {1, 2};
  const SharedMemory memory = sharing.memory_of(threads);
  EXPECT_EQ(memory.events, 1U);
  EXPECT_EQ(memory.ranges.size(), 1U);
}

// The seventh pair moves one event of each listed pair to the others.
TEST_F(PageSharingTest, ScalesFurtherPairsToTheWantedThreads) {
  PageSharing sharing(system());
  for (int thread = 1; thread <= 6; ++thread) pass(sharing, heap, 0, thread, 3);
  pass(sharing, heap, 0, 7, 1);
  const std::vector<int> threads = {0, 1, 2, 3};
  const SharedMemory memory = sharing.memory_of(threads);
  EXPECT_EQ(memory.events, 10U) << "three of six pairs with two events each, and half of 7 others";
}

TEST_F(PageSharingTest, DoesNotMergeDistantPagesWithoutAKnownMapping) {
  write_maps({});
  PageSharing sharing(system());
  for (const std::uint64_t page : {0, 1, 40}) pass(sharing, arena + page, 0, 1);
  std::vector<SharedRange> ranges = ranges_of(sharing);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].addresses, pages(arena, 2));
  EXPECT_EQ(ranges[1].addresses, pages(arena + 40, 1));
  for (std::uint64_t i = 2; i < 16; ++i) pass(sharing, arena + 40 * i, 0, 1);
  EXPECT_EQ(ranges_of(sharing)[0].addresses, pages(arena, 2));
}

// A search through all pairs of the range for each pair would take a second.
TEST_F(PageSharingTest, MergesManyPairs) {
  write_maps({line(arena, 0x10000, "")});
  PageSharing sharing(system());
  constexpr int blocks = 16000, pairs_a_block = 6, threads = 4096;
  for (int i = 0; i < blocks * pairs_a_block; ++i) {
    const int a = i % threads, b = (a + 1 + i / threads) % threads;
    pass(sharing, arena + static_cast<std::uint64_t>(i / pairs_a_block), a, b);
  }
  const std::vector<SharedRange> ranges = ranges_of(sharing, threads);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].pairs.size(), std::size_t{blocks} * pairs_a_block);
}

}  // namespace
}  // namespace huddle::threads
