// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The one clock of all measurements: monotonic, and the same on every core.
#pragma once

#include <chrono>

namespace huddle::calibrate {

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline constexpr double ns_per_second = 1e9;
inline constexpr double ns_per_ms = 1e6;

}  // namespace huddle::calibrate
