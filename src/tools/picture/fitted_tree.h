// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The most telling way to show a tree in the room there is: with boxes for cores where they fit,
// with equal boxes folded where nothing else helps.
#pragma once

#include <memory>

#include "tools/picture/layout.h"
#include "tools/picture/tree.h"

namespace huddle::picture {

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
