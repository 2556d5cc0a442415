// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/reading.h"

#include "common/error.h"
#include "common/system.h"
#include "runtime/single_copy/tracing.h"
#include "tools/doctor/sibling_probe.h"

namespace huddle::bench {

bool ranks_may_read() {
  try {
    return doctor::probe_siblings({.allow_tracers = single_copy::yama_asks(System())})
        .reads_memory();
  } catch (const FailureError&) {
    return false;
  }
}

}  // namespace huddle::bench
