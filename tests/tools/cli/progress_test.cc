// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "common/text.h"

namespace huddle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ProgressLine, ShowsShareNameAndTimes) {
  EXPECT_EQ(progress_line(0.5, "copy, 1 core", 12.2, 12.4, 80, false),
            "############............  50 %  copy, 1 core  12 s, 12 s left");
  EXPECT_EQ(progress_line(0, "copy", 0, -1, 80, false),
            "........................   0 %  copy  0 s");
  EXPECT_THAT(progress_line(1, "copy", 1, 0, 80, true),
              StartsWith("████████████████████████ 100 %"));
}

TEST(ProgressLine, NeverExceedsTheWidthOfTheTerminal) {
  const std::string name = "process_vm_readv, 64 cores of one package, and more";
  for (int columns = 0; columns < 120; ++columns) {
    for (const bool unicode : {false, true}) {
      const std::string line = progress_line(0.37, name, 100, 170, columns, unicode);
      EXPECT_LE(display_width(line), static_cast<std::size_t>(std::max(columns, 5))) << columns;
    }
  }
}

TEST(ProgressLine, KeepsShareWithinBounds) {
  EXPECT_THAT(progress_line(1.7, "copy", 1, 0, 80, false), HasSubstr("100 %"));
  EXPECT_THAT(progress_line(-1, "copy", 1, 0, 80, false), HasSubstr("  0 %"));
}

// Returns the output of a Progress on `err`.
std::string written(bool terminal) {
  std::FILE* file = std::tmpfile();
  Console console;
  console.err = file;
  console.progress = terminal;
  {
    Progress progress(console, 2);
    progress.begin_step("first");
    progress.update(0.1);
    progress.begin_step("second");
  }
  std::array<char, 4096> text{};
  std::rewind(file);
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  return {text.data(), size};
}

TEST(Progress, IsOneLinePerStepWithoutATerminal) {
  EXPECT_EQ(written(false), "[1/2] first\n[2/2] second\n");
}

TEST(Progress, DrawsABarAndRemovesIt) {
  const std::string text = written(true);
  EXPECT_THAT(text, StartsWith("\r"));
  EXPECT_THAT(text, HasSubstr("first"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));
}

}  // namespace
}  // namespace huddle::cli
