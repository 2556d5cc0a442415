// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Makes a placement better step by step: one element moves to a free slot, or two change places.
#pragma once

#include "placement/mapping/mapping.h"

namespace huddle::place {

// Never worse than what it was given. Ends when no move beside somebody whom an element talks to
// helps any more, or after a bounded number of looks.
Mapping refine(const Problem& problem, Mapping mapping);

}  // namespace huddle::place
