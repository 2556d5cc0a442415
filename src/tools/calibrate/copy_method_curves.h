// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is measured of the methods through shared memory: each curve that one of them names, once.
#pragma once

#include <cstddef>
#include <vector>

#include "model/machine/machine.h"
#include "runtime/memory/copy_method.h"
#include "tools/calibrate/handoff_probe.h"

namespace huddle::calibrate {

struct CopyMethodCurve {
  machine::HandoffKind kind;
  memory::CopyMethod method;  // the first that names it: by that it is measured
};

// In the order in which a machine file has them.
std::vector<CopyMethodCurve> copy_method_curves();

Samples time_handoff(HandoffProbe& probe, const CopyMethodCurve& curve, std::size_t bytes,
                     const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate
