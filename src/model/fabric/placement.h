// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which node each rank gets, one rank a node.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/fabric/fabric.h"

namespace huddle::fabric {

enum class Placement {
  block,        // node after node
  round_robin,  // the leaf switches in turn
  random,       // any node, by a seed
};
inline constexpr std::array<std::string_view, 3> placement_names = {"block", "round-robin",
                                                                    "random"};

// The node of each rank. pre: ranks <= fabric.nodes(). Nothing but `random` uses the seed, and that
// answers the same everywhere.
std::vector<int> place(const Fabric& fabric, int ranks, Placement placement, std::uint64_t seed);

}  // namespace huddle::fabric
