// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/fitted_tree.h"

#include <utility>

#include "tools/picture/fold.h"

namespace huddle::picture {
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
