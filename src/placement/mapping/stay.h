// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Of all placements that cost the same because objects are alike, one that moves few.
#pragma once

#include "placement/mapping/mapping.h"

namespace huddle::place {

// Groups go to where most of their elements sit now. Costs are the same as before.
Mapping staying(const Problem& problem, Mapping mapping);

// Whoever sits on slots that share nothing nearer sits there in the order of numbers, which costs
// the same: launchers that give every node one list of processors can say it then, more often.
Mapping in_order_within(const Problem& problem, Mapping mapping);

}  // namespace huddle::place
