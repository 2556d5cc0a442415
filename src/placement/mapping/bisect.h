// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Cuts a graph in two, so that few bytes cross: multilevel bisection. Vertices that talk most are
// merged two by two until few are left, these are cut, and the cut is carried back and improved at
// every step on the way (Fiduccia and Mattheyses' moves).
#pragma once

#include <cstdint>
#include <vector>

#include "placement/mapping/graph.h"

namespace huddle::place {

inline constexpr signed char any_side = -1;

struct Bisection {
  const Graph& graph;
  // By vertex: the side that it has to be on (0 or 1), or any_side. Empty: nothing is fixed.
  std::vector<signed char> fixed = {};
  // How many vertices side 0 may have.
  int least = 0;
  int most = 0;
  int tries = 1;  // whole runs, of which the best is kept
  std::uint64_t seed = 1;
};

struct Cut {
  std::vector<signed char> side;  // by vertex: 0 or 1
  double bytes = 0;               // between the two sides
};

// pre: least <= most, and the fixed vertices leave room for that.
Cut bisect(const Bisection& request);

// The same from a cut that there is, improved by moves alone. It never gets worse.
Cut improve(const Bisection& request, Cut start);

}  // namespace huddle::place
