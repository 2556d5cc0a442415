// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// LHMapping (Lu 2020; before that EagerMap: Cruz, Diener, Pilla, Navaux, PDP 2015): groups are
// formed greedily from the innermost objects to the root.
#pragma once

#include "placement/mapping/mapping.h"
#include "placement/mapping/occupancy.h"

namespace huddle::place {

// With fewer elements than slots filling and spreading are both tried, and the cheaper is taken.
Mapping lh(const Problem& problem);

// One of the two. The published method spreads.
Mapping lh(const Problem& problem, Spread spread);

}  // namespace huddle::place
