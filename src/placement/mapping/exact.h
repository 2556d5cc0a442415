// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The best of all placements. Those that differ only by objects that are alike count once.
#pragma once

#include <optional>

#include "placement/mapping/mapping.h"

namespace huddle::place {

// Beyond that many placements it takes too long.
inline constexpr long long most_placements = 10'000'000;
// So many elements have more than that on any machine with a level of sharing.
inline constexpr int most_exact_elements = 64;

// How many different placements there are; nothing where there are more than `most`.
std::optional<long long> count_placements(const Problem& problem, long long most);

// `best` is a placement to begin with: whatever cannot be better than the best so far is left out.
// pre: count_placements() says that there are few enough.
Mapping exact(const Problem& problem, Mapping best);

}  // namespace huddle::place
