// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/data_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "../../common/scratch.h"
#include "common/system.h"
#include "elf_file.h"
#include "placement/threads/memory_map.h"

namespace huddle::threads {
namespace {

constexpr std::size_t counters = 4096;

// One variable with a value in the file, and one without.
const volatile long* initialized() {
  static volatile long initialized_counters[counters] = {1};
  return initialized_counters;
}
const volatile long* zero() {
  static volatile long zero_counters[counters] = {};
  return zero_counters;
}

std::uint64_t address_of(const volatile void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

std::uint64_t inode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::optional<DataSymbols> read(const std::string& path) {
  return DataSymbols::read(path, inode_of(path));
}

// Returns the name of this program's variable at that address.
std::string name_of(std::uint64_t address) {
  const MemoryMap map(map_entries(System().lines("/proc/self/maps")));
  const MapEntry* const file = map.file_before(address);
  const auto symbols =
      file == nullptr ? std::nullopt : DataSymbols::read("/proc/self/exe", file->inode);
  if (!symbols) return "no file or no symbols";
  const auto start = symbols->address_of(file->offset, file->is_writable);
  if (!start) return "not in a segment";
  const std::uint64_t in_file = *start + address - file->range.start;
  return symbols->contains(in_file) ? symbols->name_at(in_file) : "not in the file's memory";
}

TEST(DataSymbols, NamesTheVariableThatContainsAnAddress) {
  for (const std::size_t i : {std::size_t{0}, counters / 2, counters - 1}) {
    EXPECT_THAT(name_of(address_of(&initialized()[i])),
                testing::HasSubstr("::initialized_counters"));
    EXPECT_THAT(name_of(address_of(&zero()[i])), testing::HasSubstr("::zero_counters"));
  }
}

TEST(DataSymbols, NamesAddressesUpToTheEndOfAVariable) {
  const test::Scratch scratch;
  const auto symbols =
      read(scratch.write("file", elf_file({}, {{SHT_SYMTAB, {{"variable", 0x1000, 8}}}})));
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->name_at(0xfff), "");
  EXPECT_EQ(symbols->name_at(0x1000), "variable");
  EXPECT_EQ(symbols->name_at(0x1007), "variable");
  EXPECT_EQ(symbols->name_at(0x1008), "");
}

TEST(DataSymbols, LeavesOutOtherMemory) {
  const auto symbols = read("/proc/self/exe");
  ASSERT_TRUE(symbols);
  EXPECT_FALSE(symbols->contains(~std::uint64_t{0}));
  EXPECT_EQ(symbols->name_at(~std::uint64_t{0}), "");
  EXPECT_EQ(symbols->name_at(0), "");
  EXPECT_EQ(symbols->address_of(~std::uint64_t{0} / 2, true), std::nullopt);
}

TEST(DataSymbols, RejectsFilesThatAreNotElf) {
  const test::Scratch scratch;
  EXPECT_FALSE(read(scratch.path("missing")));
  EXPECT_FALSE(read(scratch.folder().string()));
  EXPECT_FALSE(read(scratch.write("text", "no program\n")));
  EXPECT_FALSE(read(scratch.write("empty", "")));
  ASSERT_EQ(::mkfifo(scratch.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read(scratch.path("pipe")));
}

// A file that is cut off, or whose header points anywhere, has no variables, but is no error.
TEST(DataSymbols, SurvivesDamagedFiles) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string start(4096, '\0');
  self.read(start.data(), static_cast<std::streamsize>(start.size()));
  const test::Scratch scratch;
  for (std::size_t byte = 16; byte < 64; ++byte) {
    std::string damaged = start;
    damaged[byte] = '\xff';
    if (const auto symbols = read(scratch.write("damaged", damaged))) {
      EXPECT_EQ(symbols->name_at(0x4000), "");
    }
  }
}

TEST(DataSymbols, RejectsAFileWithAnotherInode) {
  const test::Scratch scratch;
  const std::string path = scratch.write("file", elf_file({}, {}));
  EXPECT_TRUE(DataSymbols::read(path, inode_of(path)));
  EXPECT_FALSE(DataSymbols::read(path, inode_of(path) + 1));
}

// lld places the data that become read-only after relocation directly before the other data: both
// are in the same page of the file, but in different pages of memory.
TEST(DataSymbols, DistinguishesSegmentsThatShareAPageOfTheFile) {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const test::Scratch scratch;
  const auto symbols =
      read(scratch.write("file", elf_file({writable_segment(0x20, 0x100, 0x100, page_bytes),
                                           writable_segment(0x120, 0x80, 0x200, 2 * page_bytes)},
                                          {})));
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->address_of(0, false), page_bytes);
  EXPECT_EQ(symbols->address_of(0, true), 2 * page_bytes);
}

TEST(DataSymbols, LeavesOutLongAndUnterminatedNames) {
  const std::string longest(4095, 'a');
  std::string file = elf_file(
      {}, {{.variables = {
                {longest, 0x1000, 8}, {longest + "a", 0x1008, 8}, {"unterminated", 0x1010, 8}}}});
  file.back() = 'x';
  const test::Scratch scratch;
  const auto symbols = read(scratch.write("file", file));
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->name_at(0x1000), longest);
  EXPECT_EQ(symbols->name_at(0x1008), "");
  EXPECT_EQ(symbols->name_at(0x1010), "");
}

TEST(DataSymbols, ReadsOneTableOfEachType) {
  const test::Scratch scratch;
  const auto symbols =
      read(scratch.write("file", elf_file({}, {{SHT_SYMTAB, {{"first", 0x1000, 8}}},
                                               {SHT_DYNSYM, {{"dynamic", 0x1008, 8}}},
                                               {SHT_SYMTAB, {{"second", 0x1010, 8}}}})));
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->name_at(0x1000), "first");
  EXPECT_EQ(symbols->name_at(0x1008), "dynamic");
  EXPECT_EQ(symbols->name_at(0x1010), "");
}

}  // namespace
}  // namespace huddle::threads
