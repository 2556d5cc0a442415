// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/canvas.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tools/picture/svg_text.h"

namespace huddle::picture {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string replaced = "\xEF\xBF\xBD";

TEST(XmlEscaped, ReplacesMarkup) {
  EXPECT_EQ(xml_escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
}

TEST(XmlEscaped, KeepsValidText) {
  const std::string text = "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";  // two, three and four bytes
  EXPECT_EQ(xml_escaped(text), text);
}

TEST(XmlEscaped, ReplacesControlCharacters) {
  EXPECT_EQ(xml_escaped(std::string_view("a\0b", 3)), "a" + replaced + "b");
  EXPECT_EQ(xml_escaped("\x1b[31m\n\t\x7f"), replaced + "[31m" + replaced + replaced + replaced);
  EXPECT_EQ(xml_escaped("\xC2\x9B"), replaced);  // U+009B, which some terminals interpret
}

TEST(XmlEscaped, ReplacesCodePointsThatXmlForbids) {
  EXPECT_EQ(xml_escaped("\xEF\xBF\xBE\xEF\xBF\xBF"), replaced + replaced);
}

TEST(XmlEscaped, ReplacesInvalidUtf8) {
  EXPECT_EQ(xml_escaped("a\x80z"),
            "a" + replaced + "z");  // a continuation byte without a start byte
  EXPECT_EQ(xml_escaped("\xE2\x82"), replaced + replaced);  // the last byte is missing
  EXPECT_EQ(xml_escaped("\xC0\xAF"), replaced + replaced);  // '/' in two bytes
  EXPECT_EQ(xml_escaped("\xE0\x80\xAF"), replaced + replaced + replaced);  // '/' in three
  EXPECT_EQ(xml_escaped("\xED\xA0\x80"), replaced + replaced + replaced);  // a surrogate
  EXPECT_EQ(xml_escaped("\xF4\x90\x80\x80"), replaced + replaced + replaced + replaced);
  EXPECT_EQ(xml_escaped("\xFF"), replaced);
}

// Any bytes become text that an XML parser accepts.
RC_GTEST_PROP(XmlEscaped, IsAlwaysCharacterData, (const std::vector<std::uint8_t>& bytes)) {
  const std::string escaped = xml_escaped(std::string(bytes.begin(), bytes.end()));
  RC_ASSERT(escaped.find_first_of("<>\"'") == std::string::npos);
  static const std::regex entity("&(amp|lt|gt|quot|#39);");
  RC_ASSERT(std::regex_replace(escaped, entity, "").find('&') == std::string::npos);
  // Escaped once more, only the ampersands change: nothing is left to be replaced.
  RC_ASSERT(xml_escaped(escaped) == std::regex_replace(escaped, std::regex("&"), "&amp;"));
}

TEST(TextWidth, IsThatOfTheFont) {
  EXPECT_NEAR(text_width("mmm", 10, false), 3 * 9.75, 1e-9);
  EXPECT_NEAR(text_width("il", 100, true), 34.3 + 34.3, 1e-9);
  EXPECT_GE(text_width("\xE7\x95\x8C", 10, false), 10);  // a full-width character takes an em
}

// Returns by how much the only text of this width is condensed: 1 is not at all.
double condensed(const std::string& svg) {
  std::smatch match;
  return std::regex_search(svg, match, std::regex("scale\\(([0-9.]+) 1\\)")) ? std::stod(match[1])
                                                                             : 1;
}

RC_GTEST_PROP(Canvas, TextStaysInItsRectangle, ()) {
  const auto text = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange(' ', '~')));
  const TextLook look{
      static_cast<double>(*rc::gen::inRange(6, 20)), {}, *rc::gen::arbitrary<bool>(), Align::left};
  const Rect rect{3, 5, *rc::gen::inRange(1, 300), 16};
  Canvas canvas(400, 100);
  canvas.text(rect, text, look);
  const double width = text_width(text, look.size, look.bold) * condensed(canvas.finish());
  RC_ASSERT(width <= rect.width * 1.011);
}

TEST(Canvas, TextThatFitsKeepsItsShape) {
  Canvas canvas(400, 100);
  canvas.text({0, 0, 300, 16}, "plain", {});
  EXPECT_EQ(condensed(canvas.finish()), 1);
}

TEST(Canvas, TextIsTextWithAnAnchor) {
  Canvas canvas(400, 100);
  canvas.text({10, 20, 100, 16}, "left", {10, {1, 2, 3}, false, Align::left});
  canvas.text({10, 20, 100, 16}, "middle", {10, {1, 2, 3}, true, Align::center});
  canvas.text({10, 20, 100, 16}, "right & wrong", {10, {1, 2, 3}, false, Align::right});
  const std::string svg = canvas.finish();
  EXPECT_THAT(svg, HasSubstr("<text x=\"10\" y=\"31.46\" font-size=\"10\" fill=\"#010203\">left<"));
  EXPECT_THAT(svg, HasSubstr("<text x=\"60\" y=\"31.46\" font-size=\"10\" fill=\"#010203\" "
                             "font-weight=\"bold\" text-anchor=\"middle\">middle<"));
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"end\">right &amp; wrong<"));
}

TEST(Canvas, FontHasGenericFallback) {
  EXPECT_THAT(Canvas(1, 1).finish(), HasSubstr(",sans-serif\""));
}

// Paints the paths of cells() and returns the colors of the table, row by row.
std::vector<std::string> painted(const std::string& svg, int rows, int columns) {
  std::vector<std::string> table(static_cast<std::size_t>(rows) *
                                 static_cast<std::size_t>(columns));
  static const std::regex path("<path fill=\"(#[0-9a-f]{6})\" d=\"([^\"]*)\"/>");
  static const std::regex tile("M(\\d+) (\\d+)h(\\d+)v(\\d+)h-(\\d+)z");
  for (std::sregex_iterator i(svg.begin(), svg.end(), path), end; i != end; ++i) {
    const std::string data = (*i)[2];
    for (std::sregex_iterator j(data.begin(), data.end(), tile); j != end; ++j) {
      const auto number = [&j](std::size_t group) { return std::stoi((*j)[group]); };
      RC_ASSERT(number(3) == number(5));
      for (int y = number(2); y < number(2) + number(4); ++y) {
        for (int x = number(1); x < number(1) + number(3); ++x) {
          std::string& cell =
              table.at(static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                       static_cast<std::size_t>(x));
          RC_ASSERT(cell.empty());
          cell = (*i)[1];
        }
      }
    }
  }
  return table;
}

RC_GTEST_PROP(Canvas, CellsArePaintedOnceInTheirColor, ()) {
  const int rows = *rc::gen::inRange(1, 9);
  const int columns = *rc::gen::inRange(1, 9);
  std::vector<Rgb> colors;
  std::vector<std::string> names;
  for (int i = 0; i < rows * columns; ++i) {
    const int shade = *rc::gen::inRange(0, 3);
    colors.push_back({static_cast<std::uint8_t>(shade), 0, 255});
    names.push_back("#0" + std::to_string(shade) + "00ff");
  }
  Canvas canvas(400, 400);
  canvas.cells({7, 9, 4 * columns, 3 * rows}, rows, columns, colors);
  const std::string svg = canvas.finish();
  RC_ASSERT(svg.find("translate(7 9) scale(4 3)") != std::string::npos);
  RC_ASSERT(painted(svg, rows, columns) == names);
}

TEST(Canvas, EqualCellsAreOneRectangle) {
  const std::vector<Rgb> colors(64 * 64, Rgb{1, 2, 3});
  Canvas canvas(64, 64);
  canvas.cells({0, 0, 64, 64}, 64, 64, colors);
  EXPECT_THAT(canvas.finish(), HasSubstr("<path fill=\"#010203\" d=\"M0 0h64v64h-64z\"/>"));
}

TEST(Canvas, GradientsHaveUniqueNames) {
  Canvas canvas(64, 64);
  canvas.gradient({0, 0, 64, 8}, Direction::right, heat_colors());
  canvas.gradient({0, 8, 8, 56}, Direction::down, heat_colors());
  const std::string svg = canvas.finish();
  EXPECT_THAT(svg, HasSubstr("<linearGradient id=\"gradient0\" x2=\"1\" y2=\"0\">"));
  EXPECT_THAT(svg, HasSubstr("<linearGradient id=\"gradient1\" x2=\"0\" y2=\"1\">"));
  EXPECT_THAT(svg, HasSubstr("url(#gradient1)"));
  EXPECT_THAT(svg, HasSubstr("<stop offset=\"0.5\" stop-color=\"#209488\"/>"));
}

TEST(Canvas, SmallBoxesHaveNoNegativeSize) {
  Canvas canvas(64, 64);
  canvas.box({0, 0, 0, 0}, {}, {});
  EXPECT_THAT(canvas.finish(), Not(HasSubstr("=\"-")));
}

}  // namespace
}  // namespace huddle::picture
