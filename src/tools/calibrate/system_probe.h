// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times the system calls that huddle uses.
#pragma once

#include "model/machine/machine.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// Times one call, or one page. `pu` makes the calls; `other` is the thread that a futex wakes, and
// may be the same. Throws FailureError if the system refuses the call.
Samples time_system_call(MeasuringThreads& crew, machine::SystemCall call, int pu, int other,
                         const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate
