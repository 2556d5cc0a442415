// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a thread does between two looks at a flag while it spins.
#pragma once

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
