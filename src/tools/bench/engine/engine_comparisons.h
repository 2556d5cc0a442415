// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the engine has to keep to: its collectives against the best that one can write by hand for
// just this case, timed beside them.
#pragma once

#include <vector>

#include "tools/bench/engine/comparison.h"
#include "tools/bench/engine/scale.h"

namespace huddle::bench {

// pus: one for each core that may be used, neighbours beside each other. Without a second one there
// is no comparison.
std::vector<Comparison> engine_comparisons(const std::vector<int>& pus, const Scale& scale);

}  // namespace huddle::bench
