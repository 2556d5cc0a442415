// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Shared helpers for tests of comparisons: the usable cores, and short runs.
#pragma once

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "tools/bench/engine/run_comparison.h"
#include "tools/calibrate/cores_and_sizes.h"

namespace huddle::bench {

// Cores that this process may use.
inline std::vector<int> test_pus() {
  const machine::Discovery here = machine::discover_this_machine();
  return calibrate::measured_pus(here.topology, here.allowed);
}

inline machine::Machine test_machine() {
  return machine::generic_machine(machine::discover_this_machine().topology);
}

// Counts its notifications.
class Listener : public ComparisonWatcher {
 public:
  void advance(double share) override {
    ++times;
    last = share;
    if (on_advance) on_advance(share);
  }
  int times = 0;
  double last = 0;
  std::function<void(double)> on_advance;
};

inline Result hold_quietly(const Comparison& comparison, int rounds = 1) {
  Listener listener;
  const std::atomic<bool> never{false};
  return run_comparison(comparison, {test_machine(), rounds}, listener, never);
}

}  // namespace huddle::bench
