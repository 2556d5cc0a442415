// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a calibration just made leaves open, told at once: a figure that is chosen by may be one of
// them.
#pragma once

#include "model/machine/machine.h"
#include "tools/cli/console.h"

namespace huddle::cli {

void warn_of_doubts(const Console& console, const machine::Machine& machine);

}  // namespace huddle::cli
