// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "../../common/scratch.h"
#include "common/file.h"

namespace huddle::launch {
namespace {

namespace fs = std::filesystem;

// Offset of the machine in the ELF header.
constexpr std::size_t machine_offset = 18;

std::string this_program() { return fs::read_symlink("/proc/self/exe").string(); }

TEST(ReadElf, ReadsThisProgram) {
  const auto elf = read_elf(this_program());
  ASSERT_TRUE(elf.has_value());
  EXPECT_TRUE(elf->like_us);
  EXPECT_THAT(elf->interpreter, ::testing::StartsWith("/lib"));
  EXPECT_THAT(elf->needed, ::testing::Contains(::testing::StartsWith("libc.so")));
  EXPECT_TRUE(names_symbol(*elf, "__libc_start_main"));
  EXPECT_FALSE(names_symbol(*elf, "__libc_start_mai"));
}

TEST(DefinesSymbol, DistinguishesDefinedFromImportedSymbols) {
  EXPECT_TRUE(defines_symbol(this_program(), "main"));
  EXPECT_FALSE(defines_symbol(this_program(), "mai"));
  EXPECT_FALSE(defines_symbol(this_program(), "__libc_start_main"));
  EXPECT_FALSE(defines_symbol("/no/such/file", "main"));
}

TEST(ReadElf, RejectsOtherFiles) {
  const test::Scratch scratch;
  EXPECT_FALSE(read_elf(scratch.write("script", "#!/bin/sh\n")).has_value());
  EXPECT_FALSE(read_elf(scratch.write("empty", "")).has_value());
  EXPECT_FALSE(read_elf(scratch.path("nothing")).has_value());
  EXPECT_FALSE(read_elf(scratch.folder().string()).has_value());
  EXPECT_EQ(obstacle_in(scratch.path("script")), Obstacle::none);
}

TEST(ObstacleIn, ReportsAProgramForAnotherProcessor) {
  const test::Scratch scratch;
  std::string program = read_text(this_program());
  program[machine_offset] = static_cast<char>(program[machine_offset] ^ 1);
  const std::string path = scratch.write("other", program);
  EXPECT_EQ(obstacle_in(path), Obstacle::other_machine);
  EXPECT_THAT(sentence(Obstacle::other_machine, path),
              ::testing::StartsWith(path + " was built for"));
}

TEST(ObstacleIn, ReportsASetUserIdProgram) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can make a program of another user's";
  const test::Scratch scratch;
  const std::string path = scratch.write("program", "#!/bin/sh\n");
  constexpr uid_t somebody = 12345;
  ASSERT_EQ(::chown(path.c_str(), somebody, somebody), 0);
  EXPECT_EQ(obstacle_in(path), Obstacle::none);
  ASSERT_EQ(::chmod(path.c_str(), S_ISUID | 0755), 0);
  EXPECT_EQ(obstacle_in(path), Obstacle::privileged);
  ASSERT_EQ(::chmod(path.c_str(), S_ISGID | 0755), 0);
  EXPECT_EQ(obstacle_in(path), Obstacle::privileged);
}

// A program whose tables are damaged anywhere is read without a crash.
RC_GTEST_PROP(ReadElf, SurvivesDamage, ()) {
  static const std::string whole = read_text("/bin/sh");
  constexpr std::size_t tables = 1024;
  std::string damaged = whole;
  for (int i = 0; i < 4; ++i) {
    damaged[*rc::gen::inRange<std::size_t>(4, tables)] = *rc::gen::arbitrary<char>();
  }
  damaged.resize(*rc::gen::inRange<std::size_t>(tables, damaged.size()));
  const test::Scratch scratch;
  const std::string path = scratch.write("damaged", damaged);
  const auto elf = read_elf(path);
  defines_symbol(path, "no such name");
  RC_ASSERT(elf.has_value());
  for (const std::string& library : elf->needed) RC_ASSERT(library.size() <= elf->symbols.size());
}

}  // namespace
}  // namespace huddle::launch
