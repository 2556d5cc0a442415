// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/fold.h"

#include <fmt/format.h>

#include <algorithm>

namespace huddle::picture {
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

}  // namespace huddle::picture
