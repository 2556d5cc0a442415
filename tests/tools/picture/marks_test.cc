// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the elements of pictures in characters.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "common/text.h"
#include "tools/picture/color.h"
#include "tools/picture/facts.h"
#include "tools/picture/grid.h"

namespace huddle::picture {
namespace {

using testing::ElementsAre;

TEST(Wrapped, BreaksAtBlanksAndCommas) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("0,64,128,192", 6), ElementsAre("0,64,", "128,", "192"));
  EXPECT_THAT(wrapped("incomprehensible", 7), ElementsAre("incompr", "ehensib", "le"));
  EXPECT_THAT(wrapped("", 7), ElementsAre(""));
}

RC_GTEST_PROP(Wrapped, LosesNothingAndFits, (const std::vector<unsigned>& numbers)) {
  std::string text;
  for (const unsigned number : numbers) text += std::to_string(number) + (number % 3 ? "," : " ");
  const int width = *rc::gen::inRange(1, 30);
  std::string combined;
  for (const std::string& line : wrapped(text, width)) {
    RC_ASSERT(display_width(line) <= static_cast<std::size_t>(width));
    combined += line;
  }
  std::erase(text, ' ');
  std::erase(combined, ' ');
  RC_ASSERT(combined == text);
}

TEST(Paragraph, HangsUnderItsLead) {
  EXPECT_EQ(paragraph("- ", "one two three", 9), "- one two\n  three\n");
}

TEST(Grid, ClipsAtItsEdges) {
  Grid grid(4, 2);
  grid.put(2, 0, "─xyz", {}, 10);
  grid.put(-1, 1, "ab", {}, 2);
  grid.put(0, 7, "gone", {}, 4);
  EXPECT_EQ(grid.text(false), "  ─x\nb\n");
}

TEST(Grid, GroupsEqualInks) {
  Grid grid(3, 1);
  const Ink bold{{}, {}, true, false};
  grid.put(0, 0, "ab", bold, 2);
  grid.put(2, 0, "c", {}, 1);
  EXPECT_EQ(grid.text(true), "\x1b[1mab\x1b[0mc\n");
  EXPECT_EQ(grid.text(false), "abc\n");
}

TEST(Inked, UsesTheColorCube) {
  EXPECT_EQ(inked("x", {Rgb{255, 0, 0}, Rgb{0, 0, 255}, false, false}, true),
            "\x1b[38;5;196;48;5;21mx\x1b[0m");
  EXPECT_EQ(inked("x", {}, true), "x");
}

TEST(Heat, GetsMonotonicallyLighter) {
  const auto luma = [](Rgb c) { return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue; };
  for (int i = 0; i < 100; ++i) EXPECT_LT(luma(heat(i / 100.0)), luma(heat((i + 1) / 100.0)));
  EXPECT_EQ(heat(-1), heat(0));
  EXPECT_EQ(heat(2), heat(1));
}

TEST(Heat, HasAReadableTextColor) {
  EXPECT_EQ(readable_on(heat(0)), (Rgb{255, 255, 255}));
  EXPECT_EQ(readable_on(heat(1)), (Rgb{16, 16, 20}));
}

TEST(LevelTitle, UsesCommonNames) {
  EXPECT_EQ(level_title("l3"), "L3");
  EXPECT_EQ(level_title("numa"), "NUMA");
  EXPECT_EQ(level_title("package"), "package");
}

}  // namespace
}  // namespace huddle::picture
