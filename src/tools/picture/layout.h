// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The position of each box and cell of a tree. Children flow from left to right and wrap. Uses
// integer units (characters in a terminal, points in a picture), so that it can be tested without
// drawing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/picture/tree.h"

namespace huddle::picture {

// Sizes of the parts of a drawing.
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
  std::vector<std::string> lines;  // the title of a box or the text of a cell, broken to fit

  int right() const { return x + width; }
  int bottom() const { return y + height; }
};

struct Layout {
  int width = 0;
  int height = 0;
  std::vector<Placed> placed;  // boxes before their contents
};

// Returns the layout with the smallest height among those that are at most `columns` units wide. It
// is wider if its cells require that. Keeps pointers into the tree.
Layout lay_out(const Node& root, const Metrics& metrics, int columns);

// Returns the tree with equal neighbours folded in the outermost `depth` levels of boxes, because
// large machines have many of them. The first box of a group stays. The others become the cells of
// one box, each with the hardware threads of its former box.
Node folded(const Node& root, int depth);

// Returns the number of box levels below the root, without cells.
int box_depth(const Node& root);

// Returns all hardware threads that the tree shows, including folded cells and repetitions.
std::vector<int> shown_processors(const Node& root);

// Size limits, in the units of the metrics.
struct Limits {
  int width = 80;
  int height_with_core_boxes = 22;
  int height_unfolded = 48;
};

// The layout points into the tree, which stays in place if this object is moved.
struct FittedTree {
  bool core_titles = false;
  std::unique_ptr<const Node> tree;
  Layout layout;
};

FittedTree fit_tree(const machine::Topology& topology, TreeOptions options, const Metrics& metrics,
                    const Limits& limits);

}  // namespace huddle::picture
