// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A sheet to draw on that becomes SVG or PNG. The only file that knows cairo is canvas.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "picture/color.h"

namespace huddle::picture {

enum class ImageFormat { svg, png };

struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  int right() const { return x + width; }
  int bottom() const { return y + height; }
};

enum class Align { left, center, right };

struct TextLook {
  double size = 11;
  Rgb color = {34, 36, 42};
  bool bold = false;
  Align align = Align::left;
};

// All lengths in points, from the top left corner.
class Canvas {
 public:
  Canvas(ImageFormat format, int width, int height);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  // With rounded corners and a thin border.
  void box(const Rect& rect, Rgb fill, Rgb border);
  void line(int x1, int y1, int x2, int y2, Rgb color);
  // The same with a head at its second end.
  void arrow(int x1, int y1, int x2, int y2, Rgb color);
  // From point to point, thicker than a line.
  struct Point {
    double x = 0;
    double y = 0;
  };
  void polyline(std::span<const Point> points, Rgb color);
  // One line of text in the middle of the rectangle's height; drawn narrower where it would be
  // wider than the rectangle.
  void text(const Rect& rect, std::string_view text, const TextLook& look);
  // A table of colours as one image that fills the rectangle, cells with hard edges.
  // pre: colors.size() == rows * columns; width and height are multiples of columns and rows.
  void cells(const Rect& rect, int rows, int columns, std::span<const Rgb> colors);

  // The file's bytes. Nothing can be drawn afterwards.
  std::string finish();

 private:
  struct Surface;
  std::unique_ptr<Surface> surface_;
};

}  // namespace huddle::picture
