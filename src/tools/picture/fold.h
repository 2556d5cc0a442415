// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Large machines repeat themselves: boxes that are alike are drawn once and named afterwards.
#pragma once

#include "tools/picture/tree.h"

namespace huddle::picture {

// The tree with equal neighbours folded in its outermost `depth` levels of boxes. A folded group
// keeps its first box; the others become one box with a cell each, which gives their processors.
Node folded(const Node& root, int depth);

// How many levels of boxes lie below the root, cells not counted.
int box_depth(const Node& root);

// All processors that the tree shows, folded cells included, as often as it shows them.
std::vector<int> shown_processors(const Node& root);

}  // namespace huddle::picture
