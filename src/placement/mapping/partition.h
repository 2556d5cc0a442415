// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From the root of the tree down: the elements of an object are cut in two for two halves of its
// children, again and again, until each has a slot.
#pragma once

#include "placement/mapping/mapping.h"

namespace huddle::place {

struct PartitionEffort {
  int tries = 1;  // runs of each bisection, of which the best is kept; one more of the first ones
  std::uint64_t seed = 1;
};

Mapping partition(const Problem& problem, const PartitionEffort& effort);

}  // namespace huddle::place
