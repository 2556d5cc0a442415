// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Asking for a cache line before it is needed.
#pragma once

namespace huddle::memory {

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
