// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// operator new and delete for this library's own allocations. These must not come from the heap,
// because the library makes them while it holds the heap's lock. The operators are not exported:
// the program keeps its own.
#include <new>

#include "runtime/heap/preload/process_malloc.h"

using huddle::heap::process_malloc;

void* operator new(std::size_t bytes) {
  if (void* const block = process_malloc.next().malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}

void operator delete(void* block) noexcept { process_malloc.next().free(block); }
void operator delete(void* block, std::size_t) noexcept { process_malloc.next().free(block); }
