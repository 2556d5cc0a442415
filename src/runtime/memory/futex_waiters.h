// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Futexes that may be shared between processes, in pages that stop being shared. The kernel knows
// such a futex by the file that its page belongs to: after the change no call can wake a thread
// that waits already. pthread_join() waits so, on a number in the data of the other thread.
#pragma once

#include "runtime/memory/arena_space.h"

namespace huddle::memory {

// Wakes the threads of this process that wait for such a futex, so that they look at it and wait
// again. Requires: the pages, given by their address, were mapped from the beginning of the file.
// Allocates nothing.
void wake_futex_waiters(Piece pages, int file) noexcept;

}  // namespace huddle::memory
