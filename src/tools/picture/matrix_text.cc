// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <span>

#include "common/text.h"
#include "tools/picture/facts.h"
#include "tools/picture/grid.h"
#include "tools/picture/matrix.h"

namespace huddle::picture {
namespace {

// Lighter characters stand for lower latencies, and a blank for a core with only one thread.
constexpr std::array<std::string_view, 4> unicode_ramp = {"░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 6> ascii_ramp = {".", ":", "+", "*", "#", "@"};

// Latencies that differ by less count as equal: averages vary, and the difference is not visible.
constexpr double same_within = 1.02;

std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> result;
  for (const double ns : values) {
    if (ns > 0 && (result.empty() || ns > result.back() * same_within)) result.push_back(ns);
  }
  return result;
}

// Returns which of `ramp` characters the i-th of `count` values gets, so that the first and the
// last differ most.
std::size_t spread(std::size_t i, std::size_t count, std::size_t ramp) {
  return count < 2 ? 0 : i * (ramp - 1) / (count - 1);
}

}  // namespace

std::string_view Shades::of(double ns) const {
  const auto step = std::find_if(steps.begin(), steps.end(),
                                 [ns](const Shade& shade) { return ns <= shade.most_ns; });
  return step == steps.end() ? steps.back().character : step->character;
}

std::string Shades::legend() const {
  std::string text;
  for (const Shade& shade : steps) {
    text +=
        fmt::format("{}{}{} {}{:.0f}", text.empty() ? "" : ", ", shade.character, shade.character,
                    exact ? "" : "to ", exact ? shade.most_ns / same_within : shade.most_ns);
  }
  return text + " ns";
}

Shades shades_for(const Blocks& blocks, const Scale& scale, bool unicode) {
  const std::span<const std::string_view> ramp =
      unicode ? std::span<const std::string_view>(unicode_ramp)
              : std::span<const std::string_view>(ascii_ramp);
  const std::vector<double> values = distinct(blocks.ns);
  Shades shades;
  shades.exact = values.size() <= ramp.size();
  if (shades.exact) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      shades.steps.push_back(
          {values[i] * same_within, ramp[spread(i, values.size(), ramp.size())]});
    }
    return shades;
  }
  for (std::size_t i = 0; i < ramp.size(); ++i) {
    const double fraction = static_cast<double>(i + 1) / static_cast<double>(ramp.size());
    shades.steps.push_back({scale.ns_at(fraction), ramp[i]});
  }
  return shades;
}

namespace {

// Maximum number of cores for which the cells contain numbers.
constexpr int most_cores_with_numbers = 12;
// Cells without numbers are about as high as wide.
constexpr int plain_cell_width = 2;
// Maximum width of the colour bar, and the space beside it for its labels.
constexpr int text_bar_width = 24;
constexpr int beside_bar = 28;

std::string number_text(double ns) { return fmt::format("{:.0f}", ns); }

int digits(double ns) { return static_cast<int>(number_text(ns).size()); }

// Layout and shades of a heat map, computed once per map.
struct Setting {
  Blocks blocks;
  Scale scale;
  Shades shades;
  bool numbers = false;
  int label_width = 0;
  int cell_width = plain_cell_width;

  int width() const { return label_width + blocks.size() * cell_width; }
};

int widest_label(const LatencyMatrix& matrix) {
  return digits(*std::max_element(matrix.cores.begin(), matrix.cores.end()));
}

Setting setting_for(const LatencyMatrix& matrix, const Style& style) {
  Setting setting;
  setting.label_width = widest_label(matrix) + 1;
  setting.blocks = in_blocks(matrix, 1);
  setting.scale = scale_of(setting.blocks);
  setting.cell_width = std::max(digits(setting.scale.most_ns), widest_label(matrix)) + 2;
  setting.numbers = matrix.size() <= most_cores_with_numbers && setting.width() <= style.columns;
  if (setting.numbers) return setting;
  setting.cell_width = plain_cell_width;
  const int most_cells = std::max(1, (style.columns - setting.label_width) / plain_cell_width);
  setting.blocks = in_blocks(matrix, fitting_block(matrix, most_cells));
  setting.scale = scale_of(setting.blocks);
  setting.shades = shades_for(setting.blocks, setting.scale, style.unicode);
  return setting;
}

void put_column_labels(Grid& grid, const Setting& setting) {
  const int step = label_step(setting.blocks, setting.cell_width, setting.label_width);
  for (int i = 0; i < setting.blocks.size(); i += step) {
    const std::string label = std::to_string(setting.blocks.first[static_cast<std::size_t>(i)]);
    const int length = static_cast<int>(label.size());
    const int cell = setting.label_width + i * setting.cell_width;
    const int x = setting.numbers ? cell + setting.cell_width - 1 - length : cell;
    if (x + length <= setting.width()) grid.put(x, 0, label, {}, length);
  }
}

void put_cell(Grid& grid, const Setting& setting, int row, int column, const Style& style) {
  const double ns = setting.blocks.at(row, column);
  if (ns <= 0) return;
  const int x = setting.label_width + column * setting.cell_width;
  std::string text(static_cast<std::size_t>(setting.cell_width), ' ');
  if (setting.numbers) {
    text = fmt::format("{:>{}} ", number_text(ns), setting.cell_width - 1);
  } else if (!style.color) {
    grid.fill(x, row + 1, setting.cell_width, setting.shades.of(ns), {});
    return;
  }
  const Rgb ground = heat(setting.scale.fraction(ns));
  grid.put(x, row + 1, text, {readable_on(ground), ground, false, false}, setting.cell_width);
}

std::string map_text(const Setting& setting, const Style& style) {
  Grid grid(setting.width(), setting.blocks.size() + 1);
  put_column_labels(grid, setting);
  for (int row = 0; row < setting.blocks.size(); ++row) {
    const std::string label = std::to_string(setting.blocks.first[static_cast<std::size_t>(row)]);
    const int length = static_cast<int>(label.size());
    grid.put(setting.label_width - 1 - length, row + 1, label, {}, length);
    for (int column = 0; column < setting.blocks.size(); ++column) {
      put_cell(grid, setting, row, column, style);
    }
  }
  return grid.text(style.color);
}

std::string color_scale(const Scale& scale, int columns) {
  const int width = std::clamp(columns - beside_bar, 2, text_bar_width);
  std::string bar;
  for (int i = 0; i < width; ++i) {
    bar += inked(" ", {{}, heat((i + 0.5) / width), false, false}, true);
  }
  return fmt::format("{} {} {} ns (logarithmic)\n", number_text(scale.least_ns), bar,
                     number_text(scale.most_ns));
}

std::string scale_text(const Setting& setting, const Style& style) {
  if (setting.scale.flat()) {
    return fmt::format("every pair: {}\n", time_text(setting.scale.least_ns));
  }
  if (style.color) return color_scale(setting.scale, style.columns);
  return setting.numbers ? std::string() : paragraph("", setting.shades.legend(), style.columns);
}

}  // namespace

std::string matrix_text(const machine::Machine& machine, const Style& style) {
  const LatencyMatrix matrix = latency_matrix(machine);
  if (matrix.size() < 2) return "One core: no latency between cores.\n";
  const Setting setting = setting_for(matrix, style);
  std::string title = "Core-to-core latency, one way, in ns, " + latency_origin(machine);
  const int side = setting.blocks.cores_a_cell;
  if (side > 1) title += fmt::format(" (each cell: {}x{} cores, averaged)", side, side);
  if (shows_threads(setting.blocks)) title += "; diagonal: between hardware threads of a core";
  return paragraph("", title, style.columns) + map_text(setting, style) +
         scale_text(setting, style);
}

}  // namespace huddle::picture
