// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Figures that came out steady and still contradict what the firmware says of the machine.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace huddle::calibrate {

std::vector<machine::Doubt> implausible(const machine::Machine& machine);

// What to say of a line that was measured at the start and at the end of a run; empty where both
// agree.
std::string change_of_line(double before_ns, double after_ns);

}  // namespace huddle::calibrate
