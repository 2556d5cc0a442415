// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How many elements each object gets, where there are fewer of them than slots.
#pragma once

#include <vector>

#include "placement/mapping/mapping.h"

namespace huddle::place {

enum class Spread {
  fill,    // the first objects to the brim, the others stay empty
  evenly,  // every object as many as any other, one more in the first ones
};

// By object of the tree. Whoever is fixed is counted where it is; no object gets more than it has
// slots.
std::vector<int> occupancy(const Problem& problem, Spread spread);

}  // namespace huddle::place
