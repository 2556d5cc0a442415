// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cstddef>

namespace huddle {

// Returns the number of a rank, vertex or processor as an index. Requires: number >= 0.
constexpr std::size_t at(int number) { return static_cast<std::size_t>(number); }

}  // namespace huddle
