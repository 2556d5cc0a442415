// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.h"
#include "tools/picture/grid.h"
#include "tools/picture/picture.h"

namespace huddle::picture {
namespace {

using sheet_sizes::character;
using sheet_sizes::line;
using sheet_sizes::margin;
using sheet_sizes::swatch;

constexpr int section_gap = 22;
constexpr int title_line = 28;
constexpr double title_points = 19;
constexpr int heading_line = 20;
constexpr double heading_points = 13;
constexpr Rgb quiet = {96, 100, 110};
constexpr TextLook quiet_look = {sheet_sizes::text_points, quiet, false, Align::left};

// The tree gets the narrowest of these widths at which it is not much higher than wide.
constexpr std::array<int, 6> tree_widths = {420, 560, 720, 900, 1120, 1360};
constexpr double most_height_to_width = 0.8;
constexpr int height_with_core_boxes = 360;
constexpr int height_unfolded = 2000;

// The approximate size of the map and the limit for its cells.
constexpr int map_side = 560;
constexpr int largest_cell = 56;
// Maximum number of cores for which the cells contain numbers.
constexpr int most_sheet_numbers = 12;
constexpr int axis = 34;
constexpr int key_width = 14;
constexpr int least_bar = 112;
constexpr int bar_labels = 64;
constexpr int bar_ticks = 5;
constexpr int column_gap = 16;
constexpr int table_line = 20;
// The width of sentences below the figures.
constexpr int notes_width = 760;

FittedTree tree_for_sheet(const Subject& subject) {
  FittedTree tree;
  for (const int width : tree_widths) {
    tree = fit_tree(subject.machine.topology, {subject.allowed, {}, false}, sheet_metrics(),
                    {width, height_with_core_boxes, height_unfolded});
    if (tree.layout.width <= width && tree.layout.height <= most_height_to_width * width) break;
  }
  return tree;
}

int text_width(std::string_view text) { return static_cast<int>(display_width(text)) * character; }

// Places elements from top to bottom; y_ is the position of the next one.
class Planner {
 public:
  explicit Planner(const Subject& subject) : subject_(subject) {
    sheet_.tree = tree_for_sheet(subject);
  }

  Sheet plan() {
    place_title();
    place_tree();
    place_legend();
    place_figures();
    place_notes();
    sheet_.width = right_ + margin;
    sheet_.height = y_ + margin;
    return std::move(sheet_);
  }

 private:
  void text(Rect rect, std::string words, const TextLook& look) {
    right_ = std::max(right_, rect.right());
    sheet_.texts.push_back({rect, std::move(words), look});
  }

  void heading(int x, int y, const std::string& words) {
    // Bold and larger text is about half as wide again as normal text.
    text({x, y, text_width(words) * 3 / 2, heading_line}, words,
         {heading_points, {34, 36, 42}, true, Align::left});
  }

  void place_title() {
    const std::string title = machine_title(subject_.machine);
    text({margin, y_, text_width(title) * 2, title_line}, title,
         {title_points, {34, 36, 42}, true, Align::left});
    y_ += title_line;
    for (const std::string& words : {machine_line(subject_.machine), calibration_line(subject_)}) {
      text({margin, y_, text_width(words), line}, words, quiet_look);
      y_ += line;
    }
    y_ += section_gap / 2;
  }

  void place_tree() {
    sheet_.tree_place = {margin, y_, sheet_.tree.layout.width, sheet_.tree.layout.height};
    right_ = std::max(right_, sheet_.tree_place.right());
    y_ = sheet_.tree_place.bottom() + section_gap / 2;
  }

  void place_legend() {
    int x = margin;
    for (LegendItem& item :
         legend_of(subject_.machine.topology, subject_.allowed, sheet_.tree.core_titles)) {
      const int mark = item.sign == Sign::none ? 0 : swatch + 6;
      const int width = mark + text_width(item.text);
      if (x > margin && x + width > right_) {
        x = margin;
        y_ += line;
      }
      sheet_.legend.push_back({{x, y_, width, line}, std::move(item)});
      right_ = std::max(right_, x + width);
      x += width + column_gap;
    }
    if (!sheet_.legend.empty()) y_ += line;
    y_ += section_gap;
  }

  // Places the heat map with its bar on the left and the table of levels on the right.
  void place_figures() {
    const LatencyMatrix matrix = latency_matrix(subject_.machine);
    const int top = y_;
    int x = margin;
    if (matrix.size() > 1) {
      x = place_map(matrix) + 2 * column_gap;
    } else {
      const std::string words = "One core: no latency between cores.";
      text({x, y_, text_width(words), line}, words, quiet_look);
      x += text_width(words) + 2 * column_gap;
      y_ += line;
    }
    const int map_bottom = y_;
    const int table_bottom = place_table(x, top);
    y_ = std::max(map_bottom, table_bottom) + section_gap / 2;
  }

  int place_map(const LatencyMatrix& matrix) {
    const int a_cell = fitting_block(matrix, map_side);
    sheet_.blocks = in_blocks(matrix, a_cell);
    sheet_.scale = scale_of(sheet_.blocks);
    sheet_.numbers = matrix.size() <= most_sheet_numbers;
    const int cells = sheet_.blocks.size();
    const int cell = std::clamp(map_side / cells, 1, largest_cell);
    std::string title = "Core-to-core latency, one way, in ns";
    if (a_cell > 1) title += fmt::format(", {}x{} cores per cell", a_cell, a_cell);
    heading(margin, y_, title);
    const int title_right = sheet_.texts.back().rect.right();
    y_ += heading_line + 4;
    std::vector<std::string> facts = {latency_origin(subject_.machine) +
                                      "; cores by hardware thread number"};
    if (shows_threads(sheet_.blocks)) {
      facts.emplace_back("diagonal: between hardware threads of a core");
    }
    for (const std::string& fact : facts) {
      text({margin, y_, text_width(fact), line}, fact, quiet_look);
      y_ += line;
    }
    // Half a line between the columns' labels and the first row's, which may extend above the row.
    sheet_.map = {margin + axis, y_ + line + line / 2, cell * cells, cell * cells};
    place_axes();
    y_ = sheet_.map.bottom();
    return std::max(place_bar(), title_right);
  }

  void place_axes() {
    const int cell = sheet_.cell();
    const int step = label_step(sheet_.blocks, cell, axis - 6);
    const TextLook look{sheet_sizes::text_points, quiet, false, Align::center};
    for (int i = 0; i < sheet_.blocks.size(); i += step) {
      const std::string label = std::to_string(sheet_.blocks.first[static_cast<std::size_t>(i)]);
      const int middle = i * cell + cell / 2;
      const int half = std::max(axis - 6, text_width(label)) / 2;
      text({sheet_.map.x + middle - half, sheet_.map.y - line - line / 2, 2 * half, line}, label,
           look);
      TextLook row = look;
      row.align = Align::right;
      text({sheet_.map.x - axis, sheet_.map.y + middle - line / 2, axis - 5, line}, label, row);
    }
  }

  // Places the colour bar. Returns the x coordinate of its right end.
  int place_bar() {
    const int x = sheet_.map.right() + column_gap;
    if (sheet_.scale.flat()) {
      const std::string words = "every pair " + time_text(sheet_.scale.least_ns);
      text({x, sheet_.map.y, text_width(words), line}, words, quiet_look);
      return x + text_width(words);
    }
    sheet_.bar = {x, sheet_.map.y, key_width, std::max(sheet_.map.height, least_bar)};
    for (int i = 0; i < bar_ticks; ++i) {
      const double fraction = static_cast<double>(i) / (bar_ticks - 1);
      const int y = sheet_.bar.bottom() - static_cast<int>(fraction * sheet_.bar.height);
      const int from_top = std::clamp(y - line / 2, sheet_.bar.y, sheet_.bar.bottom() - line);
      text({x + key_width + 6, from_top, bar_labels, line}, time_text(sheet_.scale.ns_at(fraction)),
           quiet_look);
    }
    y_ = std::max(y_, sheet_.bar.bottom());
    return x + key_width + 6 + bar_labels;
  }

  // Places the table of level costs. Returns the y coordinate of its lower end.
  int place_table(int x, int y) {
    const std::vector<LevelRow> rows = level_rows(subject_.machine);
    if (rows.size() < 2) return y;
    heading(x, y, "Latency by shared level");
    y += heading_line + 4;
    for (const LevelRow& row : rows) {
      place_row(row, rows, x, y);
      y += table_line;
    }
    return y;
  }

  void place_row(const LevelRow& row, const std::vector<LevelRow>& rows, int x, int y) {
    const bool head = &row == &rows.front();
    for (std::size_t i = 0; i < row.size(); ++i) {
      int width = 0;
      for (const LevelRow& other : rows) width = std::max(width, text_width(other[i]));
      const bool number = i >= 1 && i <= 3;
      text({x, y, width, table_line}, row[i],
           {sheet_sizes::text_points, head ? quiet : Rgb{34, 36, 42}, false,
            number ? Align::right : Align::left});
      x += width + column_gap;
    }
  }

  void place_notes() {
    std::vector<std::string> notes = {figures_origin(subject_)};
    for (const std::string& difference : latency_differences(subject_.machine)) {
      notes.push_back("Difference from the firmware's topology: " + difference);
    }
    for (const machine::Doubt& doubt : subject_.machine.doubts) {
      notes.push_back(fmt::format("Unsteady: {}: {}", doubt.what, doubt.why));
    }
    for (const std::string& note : notes) {
      for (const std::string& words : wrapped(note, notes_width / character)) {
        text({margin, y_, text_width(words), line}, words, quiet_look);
        y_ += line;
      }
    }
  }

  const Subject& subject_;
  Sheet sheet_;
  int y_ = margin;
  int right_ = margin;
};

}  // namespace

Metrics sheet_metrics() {
  Metrics metrics;
  metrics.character = character;
  metrics.cell_line = 14;
  metrics.cell_side = 5;
  metrics.cell_top = 3;
  metrics.title_line = 20;
  metrics.title_side = 9;
  metrics.side = 9;
  metrics.bottom = 9;
  metrics.gap_across = 7;
  metrics.gap_down = 7;
  return metrics;
}

Sheet plan_sheet(const Subject& subject) { return Planner(subject).plan(); }

std::string as_svg(const Subject& subject) { return draw(plan_sheet(cleaned(subject))); }

}  // namespace huddle::picture
