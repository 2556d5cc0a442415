// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/one_sided_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace huddle::memory {
namespace {

long membarrier(int command) { return syscall(SYS_membarrier, command, 0U, 0); }

}  // namespace

// A sandbox may forbid the system call, and a kernel with nohz_full CPUs does not support
// MEMBARRIER_CMD_GLOBAL.
bool OneSidedFence::is_supported(Among among) {
  const long commands = membarrier(MEMBARRIER_CMD_QUERY);
  const int wanted =
      among == Among::threads ? MEMBARRIER_CMD_PRIVATE_EXPEDITED : MEMBARRIER_CMD_GLOBAL;
  return commands > 0 && (commands & wanted) != 0;
}

void OneSidedFence::rare_side() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!one_sided_) return;
  if (among_ == Among::processes) {
    membarrier(MEMBARRIER_CMD_GLOBAL);
  } else {
    membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  }
}

}  // namespace huddle::memory
