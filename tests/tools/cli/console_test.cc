// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/console.h"

#include <gtest/gtest.h>

#include <string>

namespace huddle::cli {
namespace {

// Returns the output of a note on an `err` of this width.
std::string noted(int columns, std::string_view text) {
  Console console;
  console.err = std::tmpfile();
  console.err_columns = columns;
  console.note(text);
  std::rewind(console.err);
  std::string written;
  for (int c = std::fgetc(console.err); c != EOF; c = std::fgetc(console.err)) {
    written += static_cast<char>(c);
  }
  std::fclose(console.err);
  return written;
}

TEST(Note, IsBrokenOnlyInATerminal) {
  EXPECT_EQ(noted(20, "warning: copy: others ran here"), "warning: copy:\n    others ran here\n");
  EXPECT_EQ(noted(0, "warning: copy: others ran here"), "warning: copy: others ran here\n");
}

TEST(Note, KeepsLinesThatFit) {
  EXPECT_EQ(noted(40, "huddle: no\n  Try   this."), "huddle: no\n  Try   this.\n");
}

TEST(Note, ReplacesControlCharacters) { EXPECT_EQ(noted(0, "a\033[31mb"), "a?[31mb\n"); }

}  // namespace
}  // namespace huddle::cli
