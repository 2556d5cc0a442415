// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How large the pieces may be in which data go through slots and cells.
#pragma once

#include <cstddef>
#include <vector>

namespace huddle::select {

// From what fits into a flag's line, more and more, until all fits or the room is full.
std::vector<std::size_t> piece_sizes(std::size_t bytes, std::size_t capacity);

}  // namespace huddle::select
