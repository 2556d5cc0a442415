// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The same copy with more and more company: curves for some numbers of copiers, an answer for any.
#pragma once

#include <vector>

#include "model/machine/curve.h"

namespace huddle::machine {

struct CrowdPoint {
  int copiers = 1;
  const Curve* curve = nullptr;
};

// The time of one copy while `copiers` do the same: straight lines between the numbers that were
// measured, and never less with more company (noise that says so is taken out). Beyond the last
// number all share what the last ones had: a line drawn on from two noisy curves could fall with
// size. pre: there is a point.
double crowd_time_ns(std::vector<CrowdPoint> points, double bytes, int copiers);

}  // namespace huddle::machine
