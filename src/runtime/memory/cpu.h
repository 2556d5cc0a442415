// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Instructions that C++ does not offer: pauses in spin loops, fences and prefetches.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace huddle::memory {

// Call between two loads of a flag in a spin loop. The sibling hardware thread gets the core's
// resources, and leaving the loop does not cause a memory-order mis-speculation.
inline void spin_pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace huddle::memory

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace huddle::memory {

// Blocks until every earlier store of this thread is visible to other threads. A release store does
// not wait: it is queued behind earlier stores. Without this call, a timed copy ends when its last
// stores are in the store buffer, not when they are visible.
inline void wait_for_stores() {
#if defined(__x86_64__)
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#endif
}

// Orders earlier non-temporal stores of this thread before its later stores. On x86, non-temporal
// stores are weakly ordered, and a release store does not order them. On Arm they are like any
// other store, so that a release store suffices.
inline void order_nontemporal_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Prefetches the cache line for writing: the line moves to this core and is invalidated in all
// other caches. Has no effect on CPUs without the instruction. On x86-64, __builtin_prefetch is not
// used, because it prefetches for reading with the baseline ISA. The line would then cross the
// interconnect twice, first in shared and then in exclusive state.
inline void prefetch_for_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace huddle::memory
