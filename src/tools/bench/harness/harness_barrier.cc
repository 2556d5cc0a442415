// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/harness.h"

#include <sched.h>

#include "runtime/memory/cpu.h"

namespace huddle::bench {

void HarnessBarrier::wait() {
  const unsigned before = opened_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    arrived_.store(0, std::memory_order_relaxed);
    opened_.store(before + 1, std::memory_order_release);
    return;
  }
  while (opened_.load(std::memory_order_acquire) == before) {
    if (oversubscribed_) {
      sched_yield();
    } else {
      memory::spin_pause();
    }
  }
}

}  // namespace huddle::bench
