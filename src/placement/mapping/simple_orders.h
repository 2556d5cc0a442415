// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Placements that do not look at who talks to whom: what launchers and runtimes do by themselves.
#pragma once

#include <optional>
#include <span>

#include "placement/mapping/mapping.h"

namespace huddle::place {

// Those who are fixed sit where they are fixed; the others take what is left, in their order.
Mapping in_order(const Problem& problem);  // slots by node and processor number
// Each on the node of that number, there by its own number on the processors by theirs; whoever is
// fixed sits where he has to. Nothing where a node has too few.
std::optional<Mapping> on_nodes(const Problem& problem, std::span<const int> node_of);
Mapping compact(const Problem& problem);    // slots as the tree has them: neighbours side by side
Mapping scatter(const Problem& problem);    // each next slot as far out as there is one
Mapping at_random(const Problem& problem);  // from the problem's seed

}  // namespace huddle::place
