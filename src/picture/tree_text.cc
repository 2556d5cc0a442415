// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "picture/tree_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "picture/fold.h"
#include "picture/grid.h"
#include "picture/layout.h"
#include "picture/tree.h"
#include "picture/words.h"

namespace huddle::picture {
namespace {

using machine::CpuSet;
using machine::Topology;

// A classic terminal's height less the prompt: cores get boxes of their own where all fit into it.
constexpr int lines_with_core_boxes = 22;
// Two screens: beyond that, equal boxes are folded.
constexpr int lines_unfolded = 48;
// Below this, every column counts: borders without padding.
constexpr int narrow_columns = 60;
// Nothing can be drawn in less.
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

// A tree and where it lies; they stay together because the layout points into the tree.
struct Drawing {
  bool core_titles = false;
  std::unique_ptr<const Node> tree;
  Layout layout;
};

Drawing drawn(Node tree, const Style& style) {
  Drawing drawing{false, std::make_unique<const Node>(std::move(tree)), {}};
  drawing.layout =
      lay_out(*drawing.tree, metrics_of(style), std::max(style.columns, least_columns));
  return drawing;
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

std::string drawing_text(const Drawing& drawing, const Style& style) {
  Grid grid(drawing.layout.width, drawing.layout.height);
  for (const Placed& placed : drawing.layout.placed) {
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

// The most telling drawing that is not too high.
Drawing fitting(const Topology& topology, TreeOptions options, const Style& style) {
  options.core_titles = true;
  Drawing drawing = drawn(make_tree(topology, options), style);
  drawing.core_titles = true;
  if (drawing.layout.height <= lines_with_core_boxes) return drawing;
  options.core_titles = false;
  const Node whole = make_tree(topology, options);
  const int deepest = box_depth(whole);
  for (int depth = 0; depth <= deepest; ++depth) {
    drawing = drawn(folded(whole, depth), style);
    if (drawing.layout.height <= lines_unfolded) break;
  }
  return drawing;
}

std::string legend(const Topology& topology, const std::optional<CpuSet>& allowed,
                   bool caches_are_shown, const Style& style) {
  std::vector<std::string> parts;
  const Marks marks = marks_of(style);
  if (allowed) {
    const int ours = common(*allowed, topology.pus).count();
    parts.push_back(fmt::format("{} {} of {} processors allowed", marks.allowed, ours,
                                topology.pus.count()));
    if (ours < topology.pus.count()) parts.push_back(fmt::format("{} not allowed", marks.other));
  } else {
    parts.push_back(fmt::format("{} processors", topology.pus.count()));
  }
  if (!topology.offline.empty()) parts.push_back(fmt::format("{} offline", marks.offline));
  const std::vector<std::string> letters = kind_letters(topology);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const machine::CoreKind& kind = topology.kinds[i];
    parts.push_back(fmt::format("{} {} ({})", letters[i], kind.name, kind.cpus.text()));
  }
  if (!caches_are_shown) {
    for (const std::string& line : own_caches(topology)) parts.push_back(line);
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return paragraph("", text, style.columns);
}

}  // namespace

std::string tree_text(const Topology& topology, const std::optional<CpuSet>& allowed,
                      const Style& style) {
  const TreeOptions options{allowed, marks_of(style), false};
  const Drawing drawing = fitting(topology, options, style);
  return drawing_text(drawing, style) + legend(topology, allowed, drawing.core_titles, style);
}

}  // namespace huddle::picture
