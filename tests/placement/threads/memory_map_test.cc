// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/memory_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace huddle::threads {
namespace {

const std::vector<std::string> maps_of_app = {
    "1000-2000 r-xp 00000000 fe:00 7   /opt/my app",
    "2000-3000 rw-p 00001000 fe:00 7   /opt/my app",
    "3000-5000 rw-p 00000000 00:00 0 ",
    "5000-6000 rw-p 00000000 00:00 0   [heap]",
    "9000-a000 rw-s 00000000 00:01 9   /dev/shm/x (deleted)",
};

TEST(MemoryMap, ParsesPathsWithSpaces) {
  const std::vector<MapEntry> entries = map_entries(maps_of_app);
  ASSERT_EQ(entries.size(), maps_of_app.size());
  EXPECT_EQ(entries[1], (MapEntry{{0x2000, 0x3000}, true, 0x1000, "/opt/my app", 7}));
  EXPECT_FALSE(entries[0].is_writable);
  EXPECT_EQ(entries[2].path, "");
  EXPECT_EQ(entries[4].path, "/dev/shm/x (deleted)");
}

TEST(MemoryMap, IgnoresInvalidLines) {
  EXPECT_TRUE(
      map_entries({"", "x", "2000-1000 rw-p 0 0 0", "1000-2000", "1000-2000 rw-p x"}).empty());
}

TEST(MemoryMap, FindsTheMappingOfAnAddress) {
  const MemoryMap map(map_entries(maps_of_app));
  ASSERT_NE(map.find(0x2fff), nullptr);
  EXPECT_EQ(map.find(0x2fff)->offset, 0x1000U);
  EXPECT_EQ(map.find(0x5000)->path, "[heap]");
  EXPECT_EQ(map.find(0xfff), nullptr);
  EXPECT_EQ(map.find(0x6000), nullptr);
}

TEST(MemoryMap, FindsTheFileBeforeItsZeroInitializedVariables) {
  const MemoryMap map(map_entries(maps_of_app));
  for (const std::uint64_t address : {0x2000, 0x4fff, 0x5000}) {
    ASSERT_NE(map.file_before(address), nullptr) << address;
    EXPECT_EQ(map.file_before(address)->range.start, 0x2000U) << address;
  }
  EXPECT_EQ(map.file_before(0x8000), nullptr);
}

TEST(MemoryMap, AddsOnlyMappingsThatDoNotOverlap) {
  MemoryMap map(map_entries(maps_of_app));
  map.add({{0x4000, 0x4800}, true, 0, "inside"});
  map.add({{0x8000, 0x9800}, true, 0, "across"});
  map.add({{0x7000, 0x9000}, true, 0, "between"});
  EXPECT_EQ(map.size(), maps_of_app.size() + 1);
  EXPECT_EQ(map.find(0x7000)->path, "between");
}

}  // namespace
}  // namespace huddle::threads
