// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

// What a thread does between two looks at a flag while it spins.
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace huddle::memory {

// Tells the processor that this is a wait: the sibling thread gets the core's resources, and
// leaving the loop costs no mis-speculated loads.
inline void spin_pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace huddle::memory

// Waiting for one's own stores, and having them seen in order.
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

// Asking for a cache line before it is needed.

// This line is written next: it comes here and leaves all other caches. Nothing happens where there
// is no such instruction. Not the compiler's builtin: built for any x86-64, that only reads, and a
// line that is first shared and then written goes the way between cores twice.
inline void prefetch_for_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace huddle::memory
