// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where each box and cell of a tree lies: children flow from left to right and wrap. Plain
// arithmetic in whole units (characters in a terminal, points in a picture), so that it is tested
// without drawing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/picture/tree.h"

namespace huddle::picture {

// The sizes of the drawing that a layout is for.
struct Metrics {
  int character = 1;   // width
  int cell_line = 1;   // height of a line in a cell
  int cell_side = 0;   // left and right of a cell's text
  int cell_top = 0;    // above and below it
  int title_line = 1;  // height of a line of a box's title
  int title_side = 2;  // left and right of the title
  int side = 2;        // of a box: border and padding, left and right
  int bottom = 1;      // of a box: border and padding
  int gap_across = 1;  // between neighbours
  int gap_down = 0;
};

struct Placed {
  const Node* node = nullptr;
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  std::vector<std::string> lines;  // the title of a box, the text of a cell, broken to fit

  int right() const { return x + width; }
  int bottom() const { return y + height; }
};

struct Layout {
  int width = 0;
  int height = 0;
  std::vector<Placed> placed;  // a box before what lies in it
};

// The lowest layout that is at most `columns` units wide (as wide as its cells need where that is
// less than they can do with). Keeps pointers into the tree.
Layout lay_out(const Node& root, const Metrics& metrics, int columns);

// Large machines repeat themselves: boxes that are alike are drawn once and named afterwards.

// The tree with equal neighbours folded in its outermost `depth` levels of boxes. A folded group
// keeps its first box; the others become one box with a cell each, which gives their processors.
Node folded(const Node& root, int depth);

// How many levels of boxes lie below the root, cells not counted.
int box_depth(const Node& root);

// All processors that the tree shows, folded cells included, as often as it shows them.
std::vector<int> shown_processors(const Node& root);

// The most telling way to show a tree in the room there is: with boxes for cores where they fit,
// with equal boxes folded where nothing else helps.

// In the units of the metrics.
struct Limits {
  int width = 80;
  int height_with_core_boxes = 22;
  int height_unfolded = 48;
};

// The layout points into the tree; the tree stays where it is when this is moved.
struct FittedTree {
  bool core_titles = false;
  std::unique_ptr<const Node> tree;
  Layout layout;
};

FittedTree fit_tree(const machine::Topology& topology, TreeOptions options, const Metrics& metrics,
                    const Limits& limits);

}  // namespace huddle::picture
