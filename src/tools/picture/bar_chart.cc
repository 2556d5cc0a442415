// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/picture/canvas.h"
#include "tools/picture/chart.h"
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

  // The end of it.
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

}  // namespace huddle::picture
