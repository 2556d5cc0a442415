// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/terminal_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "common/text.h"

namespace huddle::cli {
namespace {

TEST(Wrap, IndentsLinesAfterTheFirst) {
  EXPECT_EQ(wrap("Cost: ", "one two three four", 6, 16), "Cost: one two\n      three four\n");
}

TEST(Wrap, CountsCharactersNotBytes) { EXPECT_EQ(wrap("", "✓✓✓ ✓✓✓", 0, 7), "✓✓✓ ✓✓✓\n"); }

TEST(Wrap, DoesNotBreakLongWords) {
  EXPECT_EQ(wrap("> ", "a /very/long/path b", 2, 8), "> a\n  /very/long/path\n  b\n");
}

TEST(Wrap, EmptyTextIsOneLine) { EXPECT_EQ(wrap("head", "", 2, 80), "head\n"); }

RC_GTEST_PROP(Wrap, KeepsEveryWordAndFits, ()) {
  const auto lengths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 15));
  const int columns = *rc::gen::inRange(20, 60);
  const int hang = *rc::gen::inRange(0, 5);
  std::string text;
  for (const int length : lengths) text += std::string(static_cast<std::size_t>(length), 'x') + " ";
  std::istringstream words(text);
  std::istringstream wrapped(wrap("", text, hang, columns));
  for (std::string line; std::getline(wrapped, line);) {
    RC_ASSERT(static_cast<int>(display_width(line)) <= columns);
    std::istringstream line_words(line);
    for (std::string word, expected; line_words >> word;) {
      words >> expected;
      RC_ASSERT(word == expected);
    }
  }
  std::string left_over;
  RC_ASSERT(!(words >> left_over));
}

TEST(Padded, FillsAndNeverCuts) {
  EXPECT_EQ(padded("✓", 3), "✓  ");
  EXPECT_EQ(padded("long", 2), "long");
}

}  // namespace
}  // namespace huddle::cli
