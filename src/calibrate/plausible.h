// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Figures that came out steady and still contradict what the firmware says of the machine.
#pragma once

#include <vector>

#include "machine/machine.h"

namespace huddle::calibrate {

std::vector<machine::Doubt> implausible(const machine::Machine& machine);

}  // namespace huddle::calibrate
