// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine that runs the tests.
#pragma once

#include <atomic>
#include <vector>

#include "model/machine/topology.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// Returns one allowed hardware thread per core.
inline std::vector<int> cores_here() {
  const machine::Discovery here = machine::discover_this_machine();
  return measured_pus(here.topology, here.allowed);
}

inline const std::atomic<bool> never_stop{false};
// Tests end by their number of samples, long before this limit.
inline Budget ample() { return {600, never_stop}; }
// The minimum to show that something was measured.
inline constexpr Extent few{.least = 5, .most = 5, .seconds = 0};

// Tests cannot assert exact times: accepts 0.1 ns to 1 s.
inline bool plausible(const std::vector<double>& ns) {
  if (ns.empty()) return false;
  for (const double sample : ns) {
    if (!(sample > 0.1 && sample < 1e9)) return false;
  }
  return true;
}

}  // namespace huddle::calibrate

// For tests with two threads that spin for each other.
#define HUDDLE_NEED_CORES(n) \
  if (cores_here().size() < (n)) GTEST_SKIP() << "fewer than " #n " cores allowed here"
