// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whether ranks reach into each other's arrays here.
#pragma once

#include "common/system.h"
#include "model/machine/machine.h"
#include "tools/doctor/finding.h"

namespace huddle::doctor {

// By what was measured on that machine, this one; the system says what could be done about it.
Finding judge_heap(const machine::Machine& machine, const System& system);

}  // namespace huddle::doctor
