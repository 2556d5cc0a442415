// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The plan of the sheet with title, tree, heat map and level costs: the positions of all elements
// in points. sheet_draw.cc draws it.
#pragma once

#include <string>
#include <vector>

#include "tools/picture/canvas.h"
#include "tools/picture/facts.h"
#include "tools/picture/layout.h"
#include "tools/picture/matrix.h"
#include "tools/picture/picture.h"
#include "tools/picture/tree.h"

namespace huddle::picture {

struct PlacedText {
  Rect rect;
  std::string text;
  TextLook look;
};

struct PlacedLegend {
  Rect rect;  // swatch and text
  LegendItem item;
};

struct Sheet {
  int width = 0;
  int height = 0;
  std::vector<PlacedText> texts;
  std::vector<PlacedLegend> legend;
  FittedTree tree;
  Rect tree_place;
  Blocks blocks;
  Scale scale;
  Rect map;  // the cells; a whole number of points each
  Rect bar;  // the colour bar; empty if all pairs have the same latency
  bool numbers = false;

  int cell() const { return blocks.size() == 0 ? 0 : map.width / blocks.size(); }
};

// Returns the sizes of boxes and cells of a tree on a sheet.
Metrics sheet_metrics();

Sheet plan_sheet(const Subject& subject);

// Returns the planned sheet as an SVG document.
std::string draw(const Sheet& sheet);

// Sizes that both plan_sheet() and draw() use.
namespace sheet_sizes {
inline constexpr int margin = 28;
inline constexpr int swatch = 12;
inline constexpr double text_points = 11;
// An upper bound for a character's mean width in common sans-serif fonts of that size.
inline constexpr int character = 7;
inline constexpr int line = 16;
}  // namespace sheet_sizes

}  // namespace huddle::picture
