// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Mappings told by processors, which stay the same where a tree of slots is made anew.
#pragma once

#include <vector>

#include "placement/mapping/graph.h"
#include "placement/mapping/mapping.h"
#include "placement/mapping/slots.h"

namespace huddle::threads {

std::vector<int> processors_of(const place::SlotTree& tree, const place::Mapping& mapping);

// A line each for what is counted of every pair, between these processors. Who sits on one that is
// none of the tree's is not counted.
double way_ns(const place::Graph& counts, const place::SlotTree& tree,
              const std::vector<int>& processors);

}  // namespace huddle::threads
