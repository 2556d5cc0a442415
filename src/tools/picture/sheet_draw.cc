// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Draws a planned sheet.
#include <fmt/format.h>

#include <algorithm>

#include "tools/picture/sheet.h"

namespace huddle::picture {
namespace {

constexpr Rgb ink = {34, 36, 42};
constexpr Rgb faded = {140, 144, 152};
// Also used if the allowed set is unknown.
constexpr Rgb allowed_color = {0, 122, 108};
// The slower cores of a hybrid processor.
constexpr Rgb lesser_color = {190, 120, 30};
constexpr Rgb memory_color = {117, 96, 168};
// The color of a diagonal cell whose core has only one thread.
constexpr Rgb no_value = {244, 244, 246};

struct CellLook {
  Rgb fill;
  Rgb border;
  Rgb text;
};

CellLook tinted(Rgb color) { return {mixed(color, white, 0.2), mixed(color, white, 0.7), ink}; }

constexpr CellLook off = {{232, 232, 236}, {204, 206, 212}, faded};
constexpr CellLook pale = {white, {204, 206, 212}, faded};

CellLook core_look(const Node& node) {
  switch (node.allowance) {
    case Allowance::all:
      return tinted(node.lesser_core ? lesser_color : allowed_color);
    case Allowance::some: {
      CellLook look = tinted(node.lesser_core ? lesser_color : allowed_color);
      look.fill = white;
      return look;
    }
    case Allowance::none:
      return pale;
    case Allowance::unknown:
      break;
  }
  return tinted(node.lesser_core ? lesser_color : allowed_color);
}

CellLook cell_look(const Node& node) {
  switch (node.kind) {
    case NodeKind::core:
    case NodeKind::folded:
    case NodeKind::box:
      return core_look(node);
    case NodeKind::memory:
      return tinted(memory_color);
    case NodeKind::offline:
      break;
  }
  return off;
}

CellLook swatch_look(Sign sign) {
  switch (sign) {
    case Sign::allowed:
    case Sign::core:
      return tinted(allowed_color);
    case Sign::lesser_core:
      return tinted(lesser_color);
    case Sign::offline:
      return off;
    case Sign::other:
    case Sign::none:
      break;
  }
  return pale;
}

class Drawer {
 public:
  explicit Drawer(const Sheet& sheet)
      : sheet_(sheet), metrics_(sheet_metrics()), canvas_(sheet.width, sheet.height) {}

  std::string drawn() {
    for (const Placed& placed : sheet_.tree.layout.placed) {
      if (placed.node->kind == NodeKind::box) {
        draw_box(placed);
      } else {
        draw_cell(placed);
      }
    }
    for (const PlacedLegend& legend : sheet_.legend) draw_legend(legend);
    if (sheet_.blocks.size() > 0) draw_map();
    if (sheet_.bar.height > 0) draw_bar();
    for (const PlacedText& text : sheet_.texts) canvas_.text(text.rect, text.text, text.look);
    return canvas_.finish();
  }

 private:
  Rect on_sheet(const Placed& placed) const {
    return {placed.x + sheet_.tree_place.x, placed.y + sheet_.tree_place.y, placed.width,
            placed.height};
  }

  void draw_box(const Placed& box) {
    const Rgb color = level_color(box.node->level);
    const Rect rect = on_sheet(box);
    canvas_.box(rect, mixed(color, white, 0.07), mixed(color, white, 0.65));
    for (std::size_t i = 0; i < box.lines.size(); ++i) {
      const Rect place{rect.x + metrics_.title_side,
                       rect.y + static_cast<int>(i) * metrics_.title_line,
                       rect.width - 2 * metrics_.title_side, metrics_.title_line};
      canvas_.text(place, box.lines[i],
                   {sheet_sizes::text_points, mixed(color, ink, 0.75), true, Align::left});
    }
  }

  void draw_cell(const Placed& cell) {
    const CellLook look = cell_look(*cell.node);
    const Rect rect = on_sheet(cell);
    canvas_.box(rect, look.fill, look.border);
    for (std::size_t i = 0; i < cell.lines.size(); ++i) {
      const Rect place{rect.x + metrics_.cell_side,
                       rect.y + metrics_.cell_top + static_cast<int>(i) * metrics_.cell_line,
                       rect.width - 2 * metrics_.cell_side, metrics_.cell_line};
      canvas_.text(place, cell.lines[i],
                   {sheet_sizes::text_points, look.text, false, Align::center});
    }
  }

  void draw_legend(const PlacedLegend& legend) {
    Rect words = legend.rect;
    if (legend.item.sign != Sign::none) {
      const CellLook look = swatch_look(legend.item.sign);
      const int size = sheet_sizes::swatch;
      canvas_.box({words.x, words.y + (words.height - size) / 2, size, size}, look.fill,
                  look.border);
      words.x += size + 6;
      words.width -= size + 6;
    }
    canvas_.text(words, legend.item.text, {sheet_sizes::text_points, ink, false, Align::left});
  }

  void draw_map() {
    const Blocks& blocks = sheet_.blocks;
    std::vector<Rgb> colors;
    colors.reserve(blocks.ns.size());
    for (const double ns : blocks.ns) {
      colors.push_back(ns <= 0 ? no_value : heat(sheet_.scale.fraction(ns)));
    }
    canvas_.cells(sheet_.map, blocks.size(), blocks.size(), colors);
    if (sheet_.numbers) draw_numbers(colors);
  }

  void draw_numbers(const std::vector<Rgb>& colors) {
    const int cell = sheet_.cell();
    const int size = sheet_.blocks.size();
    for (int i = 0; i < size * size; ++i) {
      const double ns = sheet_.blocks.at(i / size, i % size);
      if (ns <= 0) continue;
      const Rect place{sheet_.map.x + i % size * cell, sheet_.map.y + i / size * cell, cell, cell};
      canvas_.text(place, fmt::format("{:.0f}", ns),
                   {sheet_sizes::text_points, readable_on(colors[static_cast<std::size_t>(i)]),
                    false, Align::center});
    }
  }

  void draw_bar() {
    const std::span<const Rgb> near_to_far = heat_colors();
    const std::vector<Rgb> far_to_near(near_to_far.rbegin(), near_to_far.rend());
    canvas_.gradient(sheet_.bar, Direction::down, far_to_near);
  }

  const Sheet& sheet_;
  Metrics metrics_;
  Canvas canvas_;
};

}  // namespace

std::string draw(const Sheet& sheet) { return Drawer(sheet).drawn(); }

}  // namespace huddle::picture
