// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How parallel programs talk, as graphs of any size: what methods are compared on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "placement/mapping/graph.h"

namespace huddle::place {

enum class Pattern {
  ring,
  halo_2d,
  halo_3d,
  butterfly,
  all_to_all,
  pairs,
  pipeline,
  power_law,
  random
};
inline constexpr std::array<std::string_view, 9> pattern_names = {
    "ring",  "2-D halo", "3-D halo",  "butterfly", "all-to-all",
    "pairs", "pipeline", "power law", "random"};

// pre: size is 2 or more. Grids are as near to a square or cube as the size allows.
Graph graph_of(Pattern pattern, int size, std::uint64_t seed);

// The same with its vertices numbered at random.
Graph shuffled(const Graph& graph, std::uint64_t seed);

}  // namespace huddle::place
