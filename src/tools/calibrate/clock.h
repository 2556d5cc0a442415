// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The one clock of all measurements: monotonic, and the same on every core.
#pragma once

#include <chrono>

#include "common/units.h"

namespace huddle::calibrate {

// A double holds nanoseconds since the machine was started for 104 days; after that it has only
// every second one. So times count from here, and the difference is taken in whole numbers.
inline const std::chrono::steady_clock::time_point clock_start = std::chrono::steady_clock::now();

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - clock_start)
      .count();
}

inline constexpr double ns_per_ms = 1e6;

}  // namespace huddle::calibrate
