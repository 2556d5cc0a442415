// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A drawing surface, which is written as an SVG document.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/picture/color.h"

namespace huddle::picture {

struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  int right() const { return x + width; }
  int bottom() const { return y + height; }
};

enum class Align { left, center, right };
enum class Direction { right, down };

struct TextLook {
  double size = 11;
  Rgb color = {34, 36, 42};
  bool bold = false;
  Align align = Align::left;
};

// All lengths are in points, from the top left corner.
class Canvas {
 public:
  Canvas(int width, int height);

  // Draws a rectangle with rounded corners and a thin border.
  void box(const Rect& rect, Rgb fill, Rgb border);
  void line(int x1, int y1, int x2, int y2, Rgb color);
  // Draws a line with a head at its second end.
  void arrow(int x1, int y1, int x2, int y2, Rgb color);
  // Connects the points by a line that is thicker than those of line().
  struct Point {
    double x = 0;
    double y = 0;
  };
  void polyline(std::span<const Point> points, Rgb color);
  // Draws one line of text in the middle of the rectangle's height. Text that may get wider than
  // the rectangle is condensed to fit. Invalid UTF-8 and control characters become U+FFFD.
  void text(const Rect& rect, std::string_view text, const TextLook& look);
  // Fills the rectangle with a table of colors; the cells have hard edges.
  // Requires: colors.size() == rows * columns; width and height are multiples of columns and rows.
  void cells(const Rect& rect, int rows, int columns, std::span<const Rgb> colors);
  // Fills the rectangle with a linear gradient through the colors, which have equal distances.
  // Requires: there are at least two colors.
  void gradient(const Rect& rect, Direction direction, std::span<const Rgb> colors);

  // Returns the SVG document.
  std::string finish() const;

 private:
  int width_;
  int height_;
  int gradients_ = 0;
  std::string body_;
};

}  // namespace huddle::picture
