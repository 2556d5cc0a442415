// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// In what state the machine was when it was measured.
#pragma once

#include <string>

#include "model/machine/machine.h"

namespace huddle::calibrate {

// Everything but the method. `root` is where /proc and /sys lie: "" here, a folder in tests.
machine::Provenance provenance_of_this_machine(const std::string& root = "");

}  // namespace huddle::calibrate
