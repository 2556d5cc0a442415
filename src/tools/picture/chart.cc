// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/chart.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tools/picture/canvas.h"
#include "tools/picture/sheet.h"

namespace huddle::picture {
namespace {

using sheet_sizes::character;
using sheet_sizes::line;
using sheet_sizes::margin;
using sheet_sizes::swatch;

constexpr int bar_title_height = 30;
constexpr int bar_step = 24;
constexpr int bar_height = 16;
constexpr int most_bar_width = 460;
constexpr int value_width = 110;
constexpr int group_gap = 18;

double sum_of(const BarChart::Bar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

class BarDrawing {
 public:
  explicit BarDrawing(const BarChart& chart)
      : chart_(chart),
        name_width_(name_width(chart)),
        canvas_(2 * margin + name_width_ + most_bar_width + value_width, height_of(chart)) {}

  std::string drawn() {
    canvas_.text({margin, margin, name_width_ + most_bar_width, bar_title_height}, chart_.title,
                 {16, TextLook{}.color, true, Align::left});
    int y = margin + bar_title_height;
    for (const BarChart::Group& group : chart_.groups) y = draw_group(group, y) + group_gap;
    return canvas_.finish();
  }

 private:
  static int name_width(const BarChart& chart) {
    std::size_t longest = 0;
    for (const BarChart::Group& group : chart.groups) {
      for (const BarChart::Bar& bar : group.bars) longest = std::max(longest, bar.name.size());
    }
    return static_cast<int>(longest) * character + 8;
  }
  static int height_of(const BarChart& chart) {
    int height = 2 * margin + bar_title_height;
    for (const BarChart::Group& group : chart.groups) {
      height += line + (group.part_names.empty() ? 0 : line) + 6 + group_gap +
                static_cast<int>(group.bars.size()) * bar_step;
    }
    return height - group_gap;
  }

  static Rgb part_color(std::size_t part, std::size_t parts) {
    return mixed(
        heat(static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(parts, 2))),
        white, 0.85);
  }

  // Draws a group of bars. Returns the y coordinate of its lower end.
  int draw_group(const BarChart::Group& group, int y) {
    canvas_.text({margin, y, name_width_ + most_bar_width, line}, group.heading,
                 {12, TextLook{}.color, true, Align::left});
    y += line;
    if (!group.part_names.empty()) {
      draw_part_names(group.part_names, y);
      y += line;
    }
    y += 6;
    double most = 0;
    for (const BarChart::Bar& bar : group.bars) most = std::max(most, sum_of(bar));
    for (const BarChart::Bar& bar : group.bars) {
      draw_bar(bar, most, y);
      y += bar_step;
    }
    return y;
  }

  void draw_part_names(const std::vector<std::string>& names, int y) {
    int x = margin + name_width_;
    for (std::size_t part = 0; part < names.size(); ++part) {
      const Rgb color = part_color(part, names.size());
      canvas_.box({x, y + (line - swatch) / 2, swatch, swatch}, color, color);
      const int width = static_cast<int>(names[part].size()) * character;
      canvas_.text({x + swatch + 6, y, width, line}, names[part], TextLook{});
      x += swatch + 6 + width + 14;
    }
  }

  void draw_bar(const BarChart::Bar& bar, double most, int y) {
    canvas_.text({margin, y, name_width_ - 8, bar_height}, bar.name,
                 {11, TextLook{}.color, false, Align::right});
    int x = margin + name_width_;
    double done = 0;
    for (std::size_t part = 0; part < bar.parts.size(); ++part) {
      done += bar.parts[part];
      const int end = margin + name_width_ +
                      (most > 0 ? static_cast<int>(std::lround(done / most * most_bar_width)) : 0);
      const Rgb color = part_color(part, bar.parts.size());
      if (end > x) canvas_.cells({x, y, end - x, bar_height}, 1, 1, std::span(&color, 1));
      x = end;
    }
    canvas_.text({x + 6, y, value_width - 6, bar_height}, bar.text, TextLook{});
  }

  const BarChart& chart_;
  int name_width_;
  Canvas canvas_;
};

}  // namespace

std::string as_svg(const BarChart& chart) { return BarDrawing(chart).drawn(); }

namespace {

constexpr int line_title_height = 30;
constexpr int axis_width = 44;
constexpr int plot_width = 620;
constexpr int plot_height = 380;
constexpr int name_width = 200;
constexpr Rgb grid_color = {226, 227, 232};

// Distinguishable for colour-blind readers as well, as far as lightness allows.
constexpr std::array<Rgb, 8> line_colors = {{{38, 84, 156},
                                             {206, 98, 28},
                                             {24, 132, 96},
                                             {160, 44, 104},
                                             {128, 104, 196},
                                             {150, 122, 22},
                                             {72, 152, 188},
                                             {112, 112, 118}}};

// A logarithmic axis, from one power of two to another.
class Axis {
 public:
  void include(double value) {
    const double exponent = std::log2(value);
    least_ = std::min(least_, static_cast<int>(std::floor(exponent)));
    most_ = std::max(most_, static_cast<int>(std::ceil(exponent)));
  }
  int least() const { return least_; }
  int most() const { return std::max(most_, least_ + 1); }
  double fraction(double value) const {
    return (std::log2(value) - least()) / static_cast<double>(most() - least());
  }

 private:
  int least_ = 64;
  int most_ = 0;
};

class LineDrawing {
 public:
  explicit LineDrawing(const LineChart& chart)
      : chart_(chart),
        canvas_(plot_.right() + 16 + name_width + margin, plot_.bottom() + 2 * line + 8 + margin) {
    for (const LineChart::Line& drawn : chart.lines) {
      for (const LineChart::Point& point : drawn.points) {
        across_.include(point.across);
        up_.include(point.up);
      }
    }
  }

  std::string drawn() {
    canvas_.text({margin, margin, plot_.width + name_width, line_title_height}, chart_.title,
                 {16, TextLook{}.color, true, Align::left});
    draw_grid();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) draw_line(chart_.lines[i], color_of(i));
    draw_names();
    return canvas_.finish();
  }

 private:
  static Rgb color_of(std::size_t number) { return line_colors[number % line_colors.size()]; }

  Canvas::Point place(const LineChart::Point& point) const {
    return {plot_.x + across_.fraction(point.across) * plot_.width,
            plot_.bottom() - up_.fraction(point.up) * plot_.height};
  }

  void draw_grid() {
    for (int exponent = across_.least(); exponent <= across_.most(); ++exponent) {
      const double value = std::exp2(exponent);
      const int x = static_cast<int>(std::lround(place({value, std::exp2(up_.least())}).x));
      canvas_.line(x, plot_.y, x, plot_.bottom(), grid_color);
      canvas_.text({x - 30, plot_.bottom() + 4, 60, line}, fmt::format("{:.0f}", value),
                   {10, TextLook{}.color, false, Align::center});
    }
    for (int exponent = up_.least(); exponent <= up_.most(); ++exponent) {
      const double value = std::exp2(exponent);
      const int y = static_cast<int>(std::lround(place({std::exp2(across_.least()), value}).y));
      canvas_.line(plot_.x, y, plot_.right(), y, grid_color);
      canvas_.text({plot_.x - axis_width, y - line / 2, axis_width - 6, line},
                   fmt::format("{:.0f}", value), {10, TextLook{}.color, false, Align::right});
    }
    canvas_.text({plot_.x, plot_.bottom() + 4 + line, plot_.width, line}, chart_.across,
                 {11, TextLook{}.color, false, Align::center});
    canvas_.text({margin, plot_.y - line - 6, plot_.width, line}, chart_.up, TextLook{});
  }

  void draw_line(const LineChart::Line& drawn, Rgb color) {
    std::vector<Canvas::Point> points;
    for (const LineChart::Point& point : drawn.points) points.push_back(place(point));
    canvas_.polyline(points, color);
  }

  // Puts names at the ends of lines and moves overlapping ones apart.
  void draw_names() {
    struct Name {
      double y;
      std::size_t number;
    };
    std::vector<Name> names;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      const auto& points = chart_.lines[i].points;
      if (!points.empty()) names.push_back({place(points.back()).y, i});
    }
    std::stable_sort(names.begin(), names.end(),
                     [](const Name& a, const Name& b) { return a.y > b.y; });
    double lowest = plot_.bottom() + line / 2.0;
    for (Name& name : names) {
      name.y = std::min(name.y, lowest);
      lowest = name.y - line;
      const int y = static_cast<int>(std::lround(name.y));
      canvas_.text({plot_.right() + 8, y - line / 2, name_width, line},
                   chart_.lines[name.number].name, {11, color_of(name.number), true, Align::left});
    }
  }

  const LineChart& chart_;
  Rect plot_ = {margin + axis_width, margin + line_title_height + line + 8, plot_width,
                plot_height};
  Canvas canvas_;
  Axis across_;
  Axis up_;
};

}  // namespace

std::string as_svg(const LineChart& chart) { return LineDrawing(chart).drawn(); }

}  // namespace huddle::picture
