// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times the system calls that huddle uses.
#pragma once

#include "model/machine/machine.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// Returns times per call, or per page for page faults. `pu` makes the calls. `other` is the
// hardware thread of the thread that a futex wakes; it may be `pu`. Throws FailureError if the
// system refuses the call.
Samples time_system_call(MeasuringThreads& crew, machine::SystemCall call, int pu, int other,
                         const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate
