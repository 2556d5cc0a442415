// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A measured relation between a size and a time: points, and straight lines between them.
#pragma once

#include <cstddef>
#include <vector>

namespace huddle::machine {

struct Curve {
  std::vector<double> bytes;   // strictly rising, positive
  std::vector<double> ns;      // positive, parallel to bytes
  std::vector<double> spread;  // relative half-width of what was seen; empty: not known

  bool operator==(const Curve&) const = default;
};

// The time at a size. Made monotone first: a larger size never takes less. Straight lines between
// points; below the first point the first line goes on towards its fixed cost at no bytes (never
// below 0); beyond the last point at the rate of the last two points, or of the last point alone
// where that is slower. pre: the curve has a point.
double time_at(const Curve& curve, double bytes);

// Bytes a nanosecond (which is GB/s) at each point.
std::vector<double> rates(const Curve& curve);

}  // namespace huddle::machine
