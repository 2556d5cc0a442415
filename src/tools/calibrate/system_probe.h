// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the operating system charges for what huddle asks of it.
#pragma once

#include "model/machine/machine.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// Time of one call, or of one page. `pu` calls; `other` is the sleeper that a futex wakes, and may
// be the same. Throws FailureError where the system refuses.
Samples time_system_call(Crew& crew, machine::SystemCall call, int pu, int other,
                         const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate
