// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Predicts the time of RelayScan: one cache line from each rank to the next, one after the other.
#pragma once

#include "runtime/select/costs.h"

namespace huddle::example {

inline double relay_scan_ns(const select::Costs& costs) {
  double ns = 0;
  for (int rank = 1; rank < costs.ranks(); ++rank) ns += costs.line_ns(rank - 1, rank);
  return ns;
}

}  // namespace huddle::example
