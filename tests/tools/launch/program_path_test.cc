// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "../../common/scratch.h"
#include "tools/launch/preload.h"

namespace huddle::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Programs : public ::testing::Test {
 protected:
  Programs() {
    fs::permissions(scratch_.write("b/tool", "#!/bin/sh\n"), fs::perms::owner_all);
    scratch_.write("a/tool", "no program");
    fs::create_directories(scratch_.folder() / "a/folder");
  }
  std::string search_path() const { return scratch_.path("a") + ":" + scratch_.path("b"); }

  test::Scratch scratch_;
};

TEST_F(Programs, AreTheFirstExecutableOnes) {
  EXPECT_EQ(find_program("tool", search_path()), scratch_.path("b/tool"));
  EXPECT_EQ(find_program("folder", search_path()), std::nullopt);
  EXPECT_EQ(find_program("", search_path()), std::nullopt);
  EXPECT_EQ(find_program("tool", scratch_.path("a")), std::nullopt);
}

TEST_F(Programs, WithASlashAreNotSearched) {
  EXPECT_EQ(find_program(scratch_.path("b/tool"), ""), scratch_.path("b/tool"));
  EXPECT_EQ(find_program("b/tool", search_path()), std::nullopt);
}

TEST_F(Programs, GetAdviceIfMissing) {
  EXPECT_THAT(why_not_found("tool"), HasSubstr("is not in PATH; check its name"));
  EXPECT_THAT(why_not_found(scratch_.path("a/tool")), HasSubstr("chmod +x"));
  EXPECT_THAT(why_not_found(scratch_.path("a/folder")), HasSubstr("is a directory"));
  EXPECT_THAT(why_not_found(scratch_.path("a/nothing")), HasSubstr("does not exist"));
  EXPECT_THAT(why_not_found(""), HasSubstr("the command is empty"));
}

TEST(AlongLinks, EndsAtCyclicLinks) {
  const test::Scratch scratch;
  fs::create_symlink("b", scratch.folder() / "a");
  fs::create_symlink("a", scratch.folder() / "b");
  EXPECT_LT(along_links(scratch.path("a")).size(), 100U);
  EXPECT_THAT(along_links("/no/such/file"), ::testing::ElementsAre("/no/such/file"));
}

TEST(JoinedPreload, HasHuddlesFilesLastAndOnce) {
  EXPECT_EQ(joined_preload("/h.so", ""), "/h.so");
  EXPECT_EQ(joined_preload("/h.so", "/a.so /b.so:/c.so"), "/a.so:/b.so:/c.so:/h.so");
  EXPECT_EQ(joined_preload("/h.so", "/a.so::/h.so"), "/a.so:/h.so");
}

TEST(JoinedPreload, ReplacesHuddlesFilesOfAnotherInstallation) {
  const std::string site = "/opt/huddle/lib/huddle/";
  EXPECT_EQ(joined_preload("/h/libhuddle_preload.so:/h/libhuddle_heap.so",
                           site + "libhuddle_preload.so:/a.so:" + site + "libhuddle_heap.so"),
            "/a.so:/h/libhuddle_preload.so:/h/libhuddle_heap.so");
  EXPECT_THAT(replaced_files("/h/libhuddle_preload.so",
                             site + "libhuddle_preload.so /a.so:/h/libhuddle_preload.so"),
              ::testing::ElementsAre(site + "libhuddle_preload.so"));
}

// A command below `huddle profile` or below `huddle run --threads` is observed by these libraries.
TEST(JoinedPreload, KeepsHuddlesOtherFiles) {
  EXPECT_EQ(joined_preload("/h/libhuddle_preload.so",
                           "/h/libhuddle_profile_preload.so:/h/libhuddle_threads.so"),
            "/h/libhuddle_profile_preload.so:/h/libhuddle_threads.so:/h/libhuddle_preload.so");
}

TEST(AppendedPreload, KeepsHuddlesOtherFiles) {
  EXPECT_EQ(appended_preload("/a.so:/h/libhuddle_preload.so", "/h/libhuddle_threads.so"),
            "/a.so:/h/libhuddle_preload.so:/h/libhuddle_threads.so");
}

TEST(FindLibrary, SearchesNextToTheProgram) {
  const test::Scratch scratch;
  const std::string stub = scratch.write("lib/huddle/libhuddle_preload.so", "");
  EXPECT_EQ(find_library(scratch.path("bin/huddle")).preload, stub);
  EXPECT_EQ(find_library(scratch.path("elsewhere/bin/huddle")).preload, "");
}

TEST(ShellQuoted, IsOneWordForAShell) {
  EXPECT_EQ(shell_quoted("--host=a,b:2"), "--host=a,b:2");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b$c"), "'a b$c'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("~x"), "'~x'");
}

}  // namespace
}  // namespace huddle::launch
