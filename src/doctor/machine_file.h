// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What huddle decides by on this machine.
#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"
#include "machine/locate.h"

namespace huddle::doctor {

// `expected` is the file that `huddle calibrate` would write.
Finding judge_machine(const machine::LoadedMachine& loaded, const std::string& expected);

}  // namespace huddle::doctor
