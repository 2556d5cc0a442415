// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The points that are measured: operations and sizes, parsed from the user's options.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/select/operation.h"

namespace huddle::bench {

struct Point {
  select::Operation operation = select::Operation::barrier;
  std::size_t bytes = 0;  // 0 for a barrier

  bool operator==(const Point&) const = default;
};

// Parses a list such as "bcast,allreduce". "all" stands for every operation that can be timed, and
// an empty text for the most common ones. Throws UsageError.
std::vector<select::Operation> operations_from(const std::string& text);

// Parses "8:4M" (from 8 to 4M by factors of four, both included), "8:4M:2" (by factors of two) or
// "8,64K" (these two). Throws UsageError.
std::vector<std::size_t> sizes_from(const std::string& text);

// Returns all combinations, operation by operation and in order of increasing size.
std::vector<Point> points_of(const std::vector<select::Operation>& operations,
                             const std::vector<std::size_t>& sizes);

}  // namespace huddle::bench
