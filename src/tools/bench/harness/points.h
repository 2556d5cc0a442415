// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is measured: operations and sizes, as users write them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/select/operation.h"

namespace huddle::bench {

struct Point {
  select::Operation operation = select::Operation::barrier;
  std::size_t bytes = 0;  // a barrier has none

  bool operator==(const Point&) const = default;
};

// "bcast,allreduce"; "all" that can be timed; empty: the usual ones. Throws UsageError.
std::vector<select::Operation> operations_from(const std::string& text);

// "8:4M": from the one to the other by factors of four, both among them; "8:4M:2": by factors of
// two; "8,64K": just these. Throws UsageError.
std::vector<std::size_t> sizes_from(const std::string& text);

// Operation by operation, the sizes rising.
std::vector<Point> points_of(const std::vector<select::Operation>& operations,
                             const std::vector<std::size_t>& sizes);

}  // namespace huddle::bench
