// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
// Conditions of a calibration: other load on the machine, and the state of the system.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/system.h"
#include "model/machine/machine.h"

namespace huddle::calibrate {

// Other load on a hardware thread before the measurement.
struct OtherWork {
  int pu = 0;
  double share = 0;  // fraction of the hardware thread's time
};

// The kernel counts CPU time in ticks of 10 ms. In this time, one random tick is below the
// tolerance of a measurement.
inline constexpr std::chrono::milliseconds shortest_observation{300};

// Sleeps long enough for other_work() to detect load.
void pass_a_moment();

// Returns those of `pus` that were loaded during `wait` by more than the tolerance of a
// measurement; none if the kernel does not report the load. `wait` is usually pass_a_moment().
std::vector<OtherWork> other_work(const System& system, std::span<const int> pus,
                                  const std::function<void()>& wait);

// CPU time since boot, summed over all hardware threads.
struct CpuTimes {
  double used_seconds = 0;    // by all programs and the kernel of this machine
  double stolen_seconds = 0;  // by other virtual machines of the host
  int pus = 0;                // hardware threads
};

// Returns nothing if the kernel does not report the times.
std::optional<CpuTimes> cpu_times(const System& system);

// Returns the provenance of a calibration of this machine, without its method. `root` is the parent
// of /proc and /sys: empty except in tests.
machine::Provenance provenance_of_this_machine(const std::string& root = "");

}  // namespace huddle::calibrate
