// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Waiting for one's own stores, and having them seen in order.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace huddle::memory {

// Returns when every earlier store of this thread can be seen by others. A release store does not
// wait: it queues behind them. Timing a copy without this times the way into the store buffer.
inline void wait_for_stores() {
#if defined(__x86_64__)
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#endif
}

// Whoever acquires what this thread stores from here on sees its earlier non-temporal stores, too.
// On x86 these go past the cache in no order, that of a release store included; on Arm they are
// stores like any other, which a release store orders.
inline void order_nontemporal_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace huddle::memory
