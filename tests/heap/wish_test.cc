// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "heap/wish.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "heap/start.h"

namespace huddle::heap {
namespace {

namespace fs = std::filesystem;

// Whether `auto` wants the heap on a system whose shared huge pages are so.
bool is_wanted_where(const std::string& shared_huge_pages) {
  const fs::path root = fs::path(testing::TempDir()) / "heap_wish";
  const fs::path file = root / "sys/kernel/mm/transparent_hugepage/shmem_enabled";
  fs::create_directories(file.parent_path());
  std::ofstream(file) << shared_huge_pages << '\n';
  const bool is = is_wanted("auto", System(root.string()));
  fs::remove_all(root);
  return is;
}

TEST(HeapWish, IsTheUsersWhereHeSaysSo) {
  const System none("/nowhere");
  EXPECT_TRUE(is_wanted("on", none));
  EXPECT_FALSE(is_wanted("off", none));
}

TEST(HeapWish, NeedsSharedHugePagesOtherwise) {
  EXPECT_TRUE(is_wanted_where("[always] within_size advise never deny force"));
  EXPECT_TRUE(is_wanted_where("always [within_size] advise never deny force"));
  EXPECT_TRUE(is_wanted_where("always within_size [advise] never deny force"));
  EXPECT_FALSE(is_wanted_where("always within_size advise [never] deny force"));
  EXPECT_FALSE(is_wanted_where("always within_size advise never [deny] force"));
  EXPECT_FALSE(is_wanted("auto", System("/nowhere")));
}

TEST(HeapWish, IsReadFromTheSettings) {
  const Wish wish = wish_from([](std::string_view key) -> std::string {
    if (key == "heap-block") return "64K";
    return key == "heap-cap" ? "2G" : "5";
  });
  EXPECT_EQ(wish.least_block_bytes, 65536U);
  EXPECT_EQ(wish.cap_bytes, std::size_t{2} << 30);
  EXPECT_EQ(wish.most_copied_bytes, 5U);
}

// Nothing is said where nobody asked for a heap to be preloaded.
TEST(HeapStart, FindsNothingWhereTheLibraryIsNotPreloaded) {
  const Started started = start({});
  EXPECT_FALSE(started.facts.has_value());
  EXPECT_EQ(started.refusal, "");
}

}  // namespace
}  // namespace huddle::heap
