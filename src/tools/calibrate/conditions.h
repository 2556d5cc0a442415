// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/system.h"
#include "model/machine/machine.h"

namespace huddle::calibrate {

// Whether somebody else uses the processors that are to be measured, before anything is.
struct OtherWork {
  int pu = 0;
  double share = 0;  // of the processor's time
};

// Lets a moment pass in which this process does nothing.
void pass_a_moment();

// What the kernel counts on these processors in the meantime, where that is more than a measurement
// bears; none where it counts nothing. `wait` lets time pass: pass_a_moment().
std::vector<OtherWork> other_work(const System& system, std::span<const int> pus,
                                  const std::function<void()>& wait);

// In what state the machine was when it was measured.

// Everything but the method. `root` is where /proc and /sys lie: "" here, a folder in tests.
machine::Provenance provenance_of_this_machine(const std::string& root = "");

}  // namespace huddle::calibrate
