// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/layout.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/text.h"
#include "tools/picture/grid.h"

namespace huddle::picture {
namespace {

// Numbers of columns that are tried for inner boxes. A longer row would not be recognized as one.
constexpr std::array<int, 6> columns_to_try = {1, 2, 3, 4, 6, 8};

// A node with all its contents, relative to its own corner.
struct Piece {
  Placed self;
  std::vector<Piece> inner;
};

std::string joined_titles(const Node& box) {
  std::string text;
  for (const std::string& title : box.titles) text += (text.empty() ? "" : " + ") + title;
  return text;
}

int widest(const std::vector<std::string>& lines) {
  std::size_t most = 0;
  for (const std::string& line : lines) most = std::max(most, display_width(line));
  return static_cast<int>(most);
}

class Flow {
 public:
  Flow(const Node& root, const Metrics& metrics)
      : metrics_(metrics), core_characters_(widest_core(root)) {}

  Piece arranged(const Node& node, int room) const {
    if (node.kind != NodeKind::box) return cell(node, room);
    const bool has_boxes = std::any_of(node.children.begin(), node.children.end(),
                                       [](const Node& n) { return n.kind == NodeKind::box; });
    std::optional<Piece> best;
    for (const int across : columns_to_try) {
      if (across > 1 && (!has_boxes || across > static_cast<int>(node.children.size()))) break;
      if (across > 1 && share_of(room, across) < widest_child_wish(node)) break;
      Piece attempt = box(node, room, across);
      if (!best || attempt.self.height < best->self.height) best = std::move(attempt);
    }
    return *best;
  }

 private:
  // Returns the width of the widest core label, which all core cells use to form columns.
  static int widest_core(const Node& node) {
    int most = node.kind == NodeKind::core ? static_cast<int>(display_width(node.label)) : 0;
    for (const Node& child : node.children) most = std::max(most, widest_core(child));
    return most;
  }

  int share_of(int room, int across) const {
    return (room - 2 * metrics_.side - (across - 1) * metrics_.gap_across) / across;
  }

  // Returns the minimum width that does not break a core's numbers or a level's name.
  int wish(const Node& node) const {
    switch (node.kind) {
      case NodeKind::core:
        return core_characters_ * metrics_.character + 2 * metrics_.cell_side;
      case NodeKind::memory:
      case NodeKind::offline:
      case NodeKind::folded:
        return 0;  // text that may be broken
      case NodeKind::box:
        break;
    }
    const int title = widest(node.titles) * metrics_.character + 2 * metrics_.title_side;
    return std::max(title, widest_child_wish(node) + 2 * metrics_.side);
  }

  int widest_child_wish(const Node& node) const {
    int most = 0;
    for (const Node& child : node.children) most = std::max(most, wish(child));
    return most;
  }

  Piece cell(const Node& node, int room) const {
    Piece piece;
    piece.self.node = &node;
    const int most = std::max(1, (room - 2 * metrics_.cell_side) / metrics_.character);
    piece.self.lines = wrapped(node.label, most);
    int characters = widest(piece.self.lines);
    if (node.kind == NodeKind::core) characters = std::min(core_characters_, most);
    const int lines = static_cast<int>(piece.self.lines.size());
    piece.self.width = characters * metrics_.character + 2 * metrics_.cell_side;
    piece.self.height = lines * metrics_.cell_line + 2 * metrics_.cell_top;
    return piece;
  }

  Piece box(const Node& node, int room, int across) const {
    Piece piece;
    piece.self.node = &node;
    const int title_room = (room - 2 * metrics_.title_side) / metrics_.character;
    piece.self.lines = wrapped(joined_titles(node), title_room);
    const int top = static_cast<int>(piece.self.lines.size()) * metrics_.title_line;
    const int share = share_of(room, across);
    for (const Node& child : node.children) piece.inner.push_back(arranged(child, share));
    make_cores_as_wide(piece.inner);
    const auto [width, height] = set_in_rows(piece.inner, room - 2 * metrics_.side);
    for (Piece& child : piece.inner) {
      child.self.x += metrics_.side;
      child.self.y += top;
    }
    const int title_width = widest(piece.self.lines) * metrics_.character + 2 * metrics_.title_side;
    piece.self.width = std::max(width + 2 * metrics_.side, title_width);
    piece.self.height = top + height + metrics_.bottom;
    return piece;
  }

  // Makes boxes of cores as wide as the widest ("core 9" like "core 10") to form columns.
  static void make_cores_as_wide(std::vector<Piece>& pieces) {
    const bool are_cores = std::all_of(pieces.begin(), pieces.end(), [](const Piece& piece) {
      return piece.self.node->kind == NodeKind::box && piece.self.node->level == "core";
    });
    if (!are_cores) return;
    int most = 0;
    for (const Piece& piece : pieces) most = std::max(most, piece.self.width);
    for (Piece& piece : pieces) piece.self.width = most;
  }

  // Places the pieces in rows. Returns the total width and height.
  std::pair<int, int> set_in_rows(std::vector<Piece>& pieces, int room) const {
    const int limit = balanced_row(pieces, room);
    int width = 0;
    int y = 0;
    for (std::size_t begin = 0; begin < pieces.size();) {
      const std::size_t end = row_end(pieces, begin, room, limit);
      int x = 0;
      int row_height = 0;
      for (std::size_t i = begin; i < end; ++i) {
        pieces[i].self.x = x;
        pieces[i].self.y = y;
        x += pieces[i].self.width + metrics_.gap_across;
        row_height = std::max(row_height, pieces[i].self.height);
      }
      // Boxes in a row get the same height.
      for (std::size_t i = begin; i < end; ++i) {
        if (pieces[i].self.node->kind == NodeKind::box) pieces[i].self.height = row_height;
      }
      width = std::max(width, x - metrics_.gap_across);
      y += row_height + metrics_.gap_down;
      begin = end;
    }
    return {width, pieces.empty() ? 0 : y - metrics_.gap_down};
  }

  std::size_t row_end(const std::vector<Piece>& pieces, std::size_t begin, int room,
                      int limit) const {
    int used = pieces[begin].self.width;
    std::size_t end = begin + 1;
    while (end < pieces.size() && static_cast<int>(end - begin) < limit) {
      used += metrics_.gap_across + pieces[end].self.width;
      if (used > room) break;
      ++end;
    }
    return end;
  }

  // Returns the number of equal boxes per row that makes rows equally long: 8 as 4 + 4, not 5 + 3.
  int balanced_row(const std::vector<Piece>& pieces, int room) const {
    const int count = static_cast<int>(pieces.size());
    if (count == 0) return 0;
    const int width = pieces.front().self.width;
    const bool equal = std::all_of(pieces.begin(), pieces.end(),
                                   [width](const Piece& p) { return p.self.width == width; });
    if (!equal) return count;
    const int fit = std::max(1, (room + metrics_.gap_across) / (width + metrics_.gap_across));
    const int rows = (count + fit - 1) / fit;
    return (count + rows - 1) / rows;
  }

  const Metrics& metrics_;
  int core_characters_;
};

void flatten(Piece& piece, int x, int y, std::vector<Placed>& placed) {
  piece.self.x += x;
  piece.self.y += y;
  const int inner_x = piece.self.x;
  const int inner_y = piece.self.y;
  placed.push_back(std::move(piece.self));
  for (Piece& inner : piece.inner) flatten(inner, inner_x, inner_y, placed);
}

}  // namespace

Layout lay_out(const Node& root, const Metrics& metrics, int columns) {
  Piece piece = Flow(root, metrics).arranged(root, columns);
  Layout layout{piece.self.width, piece.self.height, {}};
  flatten(piece, 0, 0, layout.placed);
  return layout;
}

namespace {

bool alike(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.shape != b.shape || a.allowance != b.allowance) return false;
  return std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    alike);
}

Node folded_cell(const Node& box) {
  Node cell;
  cell.kind = NodeKind::folded;
  cell.label = fmt::format("{} ({})", box.titles.front(), box.cpus.text());
  cell.cpus = box.cpus;
  cell.allowance = box.allowance;
  cell.shape = "folded";
  return cell;
}

Node fold_box(const Node& first, std::vector<Node> cells) {
  Node box;
  box.level = first.level;
  box.titles = {fmt::format("{} more like {}", cells.size(), first.titles.front())};
  box.shape = "folded";
  box.children = std::move(cells);
  return box;
}

}  // namespace

Node folded(const Node& root, int depth) {
  if (depth == 0) return root;
  Node result = root;
  result.children.clear();
  for (std::size_t i = 0; i < root.children.size();) {
    const Node& first = root.children[i++];
    result.children.push_back(folded(first, depth - 1));
    std::vector<Node> cells;
    while (first.kind == NodeKind::box && i < root.children.size() &&
           alike(first, root.children[i])) {
      cells.push_back(folded_cell(root.children[i++]));
    }
    if (!cells.empty()) result.children.push_back(fold_box(first, std::move(cells)));
  }
  return result;
}

int box_depth(const Node& root) {
  int deepest = 0;
  for (const Node& child : root.children) {
    if (child.kind == NodeKind::box) deepest = std::max(deepest, 1 + box_depth(child));
  }
  return deepest;
}

std::vector<int> shown_processors(const Node& root) {
  std::vector<int> shown;
  if (root.kind != NodeKind::box) return root.cpus.cpus();
  for (const Node& child : root.children) {
    const std::vector<int> inner = shown_processors(child);
    shown.insert(shown.end(), inner.begin(), inner.end());
  }
  return shown;
}

namespace {

FittedTree laid_out(Node tree, bool core_titles, const Metrics& metrics, int width) {
  FittedTree fitted{core_titles, std::make_unique<const Node>(std::move(tree)), {}};
  fitted.layout = lay_out(*fitted.tree, metrics, width);
  return fitted;
}

}  // namespace

FittedTree fit_tree(const machine::Topology& topology, TreeOptions options, const Metrics& metrics,
                    const Limits& limits) {
  options.core_titles = true;
  FittedTree fitted = laid_out(make_tree(topology, options), true, metrics, limits.width);
  if (fitted.layout.height <= limits.height_with_core_boxes) return fitted;
  options.core_titles = false;
  const Node whole = make_tree(topology, options);
  const int deepest = box_depth(whole);
  for (int depth = 0; depth <= deepest; ++depth) {
    fitted = laid_out(folded(whole, depth), false, metrics, limits.width);
    if (fitted.layout.height <= limits.height_unfolded) break;
  }
  return fitted;
}

}  // namespace huddle::picture
