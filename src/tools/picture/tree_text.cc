// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/picture/grid.h"
#include "tools/picture/layout.h"

namespace huddle::picture {
namespace {

using machine::CpuSet;
using machine::Topology;

// Cores get their own boxes if the tree then fits into a classic terminal of 24 lines.
constexpr int lines_with_core_boxes = 22;
// Two screens: equal boxes are folded in taller trees.
constexpr int lines_unfolded = 48;
// Borders have no padding in narrower terminals.
constexpr int narrow_columns = 60;
// The minimum width of a drawing.
constexpr int least_columns = 20;

struct Frame {
  std::string_view top_left, top_right, bottom_left, bottom_right, across, down;
};
constexpr Frame unicode_frame = {"┌", "┐", "└", "┘", "─", "│"};
constexpr Frame ascii_frame = {"+", "+", "+", "+", "-", "|"};

Marks marks_of(const Style& style) {
  if (style.unicode) return {"●", "○", "×"};
  return {"*", ".", "x"};
}

Metrics metrics_of(const Style& style) {
  Metrics metrics;
  metrics.side = style.columns < narrow_columns ? 1 : 2;
  return metrics;
}

void draw_box(Grid& grid, const Placed& box, const Style& style) {
  const Frame& frame = style.unicode ? unicode_frame : ascii_frame;
  const Ink line{level_color(box.node->level), {}, false, false};
  const int last_x = box.right() - 1;
  const int last_y = box.bottom() - 1;
  for (const int y : {box.y, last_y}) grid.fill(box.x + 1, y, box.width - 2, frame.across, line);
  for (int y = box.y + 1; y < last_y; ++y) {
    grid.put(box.x, y, frame.down, line, 1);
    grid.put(last_x, y, frame.down, line, 1);
  }
  grid.put(box.x, box.y, frame.top_left, line, 1);
  grid.put(last_x, box.y, frame.top_right, line, 1);
  grid.put(box.x, last_y, frame.bottom_left, line, 1);
  grid.put(last_x, last_y, frame.bottom_right, line, 1);
  const Ink title{level_color(box.node->level), {}, true, false};
  for (std::size_t i = 0; i < box.lines.size(); ++i) {
    const std::string text = i == 0 ? fmt::format(" {} ", box.lines[i]) : box.lines[i];
    const int x = i == 0 ? box.x + 1 : box.x + 2;
    grid.put(x, box.y + static_cast<int>(i), text, title, box.right() - 1 - x);
  }
}

Ink cell_ink(const Node& node) {
  constexpr Rgb ours = {0, 135, 95};
  constexpr Rgb memory = {95, 95, 175};
  switch (node.kind) {
    case NodeKind::memory:
      return {memory, {}, false, false};
    case NodeKind::offline:
      return {{}, {}, false, true};
    case NodeKind::box:
    case NodeKind::core:
    case NodeKind::folded:
      break;
  }
  switch (node.allowance) {
    case Allowance::all:
    case Allowance::some:
      return {ours, {}, true, false};
    case Allowance::none:
      return {{}, {}, false, true};
    case Allowance::unknown:
      break;
  }
  return {};
}

std::string drawing_text(const Layout& layout, const Style& style) {
  Grid grid(layout.width, layout.height);
  for (const Placed& placed : layout.placed) {
    if (placed.node->kind == NodeKind::box) {
      draw_box(grid, placed, style);
      continue;
    }
    for (std::size_t i = 0; i < placed.lines.size(); ++i) {
      grid.put(placed.x, placed.y + static_cast<int>(i), placed.lines[i], cell_ink(*placed.node),
               placed.width);
    }
  }
  return grid.text(style.color);
}

std::string legend_text(const std::vector<LegendItem>& items, const Style& style) {
  const Marks marks = marks_of(style);
  std::string text;
  for (const LegendItem& item : items) {
    text += text.empty() ? "" : "; ";
    switch (item.sign) {
      case Sign::allowed:
        text += marks.allowed + " ";
        break;
      case Sign::other:
        text += marks.other + " ";
        break;
      case Sign::offline:
        text += marks.offline + " ";
        break;
      case Sign::core:
      case Sign::lesser_core:
      case Sign::none:
        break;
    }
    text += item.text;
  }
  return paragraph("", text, style.columns);
}

}  // namespace

std::string tree_text(const Topology& topology, const std::optional<CpuSet>& allowed,
                      const Style& style) {
  const Limits limits{std::max(style.columns, least_columns), lines_with_core_boxes,
                      lines_unfolded};
  const FittedTree fitted =
      fit_tree(topology, {allowed, marks_of(style), false}, metrics_of(style), limits);
  return drawing_text(fitted.layout, style) +
         legend_text(legend_of(topology, allowed, fitted.core_titles), style);
}

}  // namespace huddle::picture
