// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
// Conditions of a calibration: other load on the machine, and the state of the system.
#pragma once

#include <functional>
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

// Sleeps long enough for other_work() to detect load.
void pass_a_moment();

// Returns those of `pus` that were loaded during `wait` by more than the tolerance of a
// measurement; none if the kernel does not report the load. `wait` is usually pass_a_moment().
std::vector<OtherWork> other_work(const System& system, std::span<const int> pus,
                                  const std::function<void()>& wait);

// Returns the provenance of a calibration of this machine, without its method. `root` is the parent
// of /proc and /sys: empty except in tests.
machine::Provenance provenance_of_this_machine(const std::string& root = "");

}  // namespace huddle::calibrate
