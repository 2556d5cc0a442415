// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "tools/picture/svg_text.h"

namespace huddle::picture {
namespace {

constexpr int corner_radius = 3;
// Estimated widths may exceed the rectangle by this factor. The excess is too small to be visible,
// and layouts count digits as slightly narrower than they are.
constexpr double unseen_excess = 1.01;

template <typename... Values>
void append(std::string& body, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(body), format, std::forward<Values>(values)...);
}

std::string hex(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

// Returns the length with at most two decimals, without trailing zeros.
std::string number(double length) { return fmt::format("{}", std::round(length * 100) / 100); }

double anchor_x(const Rect& rect, Align align) {
  switch (align) {
    case Align::left:
      return rect.x;
    case Align::center:
      return rect.x + rect.width / 2.0;
    case Align::right:
      return rect.right();
  }
  return rect.x;
}

std::string_view anchor_attribute(Align align) {
  switch (align) {
    case Align::left:
      return "";
    case Align::center:
      return " text-anchor=\"middle\"";
    case Align::right:
      return " text-anchor=\"end\"";
  }
  return "";
}

// Covers a table of colors with few rectangles: each grows from a cell to the right, then down.
class Tiles {
 public:
  Tiles(int rows, int columns, std::span<const Rgb> colors)
      : rows_(rows), columns_(columns), colors_(colors), covered_(colors.size()) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        if (!covered_[index(row, column)]) cover(row, column);
      }
    }
  }

  // Returns the path of each color's rectangles, in units of cells.
  const std::map<std::string, std::string>& paths() const { return paths_; }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(column);
  }

  bool is_free(int row, int column, Rgb color) const {
    return !covered_[index(row, column)] && colors_[index(row, column)] == color;
  }

  bool is_row_free(int row, int begin, int end, Rgb color) const {
    for (int column = begin; column < end; ++column) {
      if (!is_free(row, column, color)) return false;
    }
    return true;
  }

  void cover(int row, int column) {
    const Rgb color = colors_[index(row, column)];
    int right = column + 1;
    while (right < columns_ && is_free(row, right, color)) ++right;
    int bottom = row + 1;
    while (bottom < rows_ && is_row_free(bottom, column, right, color)) ++bottom;
    for (int y = row; y < bottom; ++y) {
      for (int x = column; x < right; ++x) covered_[index(y, x)] = true;
    }
    append(paths_[hex(color)], "M{} {}h{}v{}h-{}z", column, row, right - column, bottom - row,
           right - column);
  }

  int rows_;
  int columns_;
  std::span<const Rgb> colors_;
  std::vector<bool> covered_;
  std::map<std::string, std::string> paths_;
};

}  // namespace

Canvas::Canvas(int width, int height) : width_(width), height_(height) {}

void Canvas::box(const Rect& rect, Rgb fill, Rgb border) {
  // The border is one point wide: it lies on whole pixels if its middle is between two of them.
  append(body_,
         "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{}\" "
         "stroke=\"{}\"/>\n",
         number(rect.x + 0.5), number(rect.y + 0.5), std::max(rect.width - 1, 0),
         std::max(rect.height - 1, 0), corner_radius, hex(fill), hex(border));
}

void Canvas::line(int x1, int y1, int x2, int y2, Rgb color) {
  append(body_, "<path d=\"M{} {}L{} {}\" stroke=\"{}\"/>\n", number(x1 + 0.5), number(y1 + 0.5),
         number(x2 + 0.5), number(y2 + 0.5), hex(color));
}

void Canvas::arrow(int x1, int y1, int x2, int y2, Rgb color) {
  line(x1, y1, x2, y2, color);
  constexpr double length = 8;
  constexpr double half_width = 3;
  const double x = x2 - x1;
  const double y = y2 - y1;
  // Not std::hypot(), which gcc takes from glibc 2.35 or newer.
  const double distance = std::sqrt(x * x + y * y);
  if (distance == 0) return;
  const double along_x = x / distance;
  const double along_y = y / distance;
  const double tip_x = x2 + 0.5;
  const double tip_y = y2 + 0.5;
  const double back_x = tip_x - length * along_x;
  const double back_y = tip_y - length * along_y;
  append(body_, "<path d=\"M{} {}L{} {}L{} {}z\" fill=\"{}\"/>\n", number(tip_x), number(tip_y),
         number(back_x - half_width * along_y), number(back_y + half_width * along_x),
         number(back_x + half_width * along_y), number(back_y - half_width * along_x), hex(color));
}

void Canvas::polyline(std::span<const Point> points, Rgb color) {
  std::string places;
  for (const Point& point : points) {
    append(places, "{}{},{}", places.empty() ? "" : " ", number(point.x), number(point.y));
  }
  append(body_,
         "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
         "stroke-linejoin=\"round\"/>\n",
         places, hex(color));
}

void Canvas::text(const Rect& rect, std::string_view text, const TextLook& look) {
  if (text.empty()) return;
  const double width = text_width(text, look.size, look.bold);
  const double room = std::max(rect.width, 1);
  const std::string x = number(anchor_x(rect, look.align));
  const std::string y = number(rect.y + rect.height / 2.0 + baseline_shift * look.size);
  // Scales the text instead of using textLength, which librsvg ignores.
  const std::string place =
      width <= room * unseen_excess
          ? fmt::format("x=\"{}\" y=\"{}\"", x, y)
          : fmt::format("transform=\"translate({} {}) scale({:.4f} 1)\"", x, y, room / width);
  append(body_, "<text {} font-size=\"{}\" fill=\"{}\"{}{}>{}</text>\n", place, number(look.size),
         hex(look.color), look.bold ? " font-weight=\"bold\"" : "", anchor_attribute(look.align),
         xml_escaped(text));
}

void Canvas::cells(const Rect& rect, int rows, int columns, std::span<const Rgb> colors) {
  if (colors.empty()) return;
  append(body_, "<g transform=\"translate({} {}) scale({} {})\" shape-rendering=\"crispEdges\">\n",
         rect.x, rect.y, rect.width / columns, rect.height / rows);
  const Tiles tiles(rows, columns, colors);
  for (const auto& [color, path] : tiles.paths()) {
    append(body_, "<path fill=\"{}\" d=\"{}\"/>\n", color, path);
  }
  body_ += "</g>\n";
}

void Canvas::gradient(const Rect& rect, Direction direction, std::span<const Rgb> colors) {
  const int id = gradients_++;
  append(body_, "<linearGradient id=\"gradient{}\" x2=\"{}\" y2=\"{}\">", id,
         direction == Direction::right ? 1 : 0, direction == Direction::down ? 1 : 0);
  for (std::size_t i = 0; i < colors.size(); ++i) {
    append(body_, "<stop offset=\"{:.4g}\" stop-color=\"{}\"/>",
           static_cast<double>(i) / static_cast<double>(colors.size() - 1), hex(colors[i]));
  }
  append(body_,
         "</linearGradient>\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
         "fill=\"url(#gradient{})\"/>\n",
         rect.x, rect.y, rect.width, rect.height, id);
}

std::string Canvas::finish() const {
  // The style makes viewers shrink the whole picture in a window that is narrower.
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}pt\" height=\"{1}pt\" "
      "viewBox=\"0 0 {0} {1}\" style=\"max-width:100%;height:auto\" font-family=\"{2}\" "
      "xml:space=\"preserve\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      width_, height_, font_family, body_);
}

}  // namespace huddle::picture
