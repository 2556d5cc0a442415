// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What this library itself allocates never comes from the heap, whose lock it holds while it does.
// These are seen by nobody else: the program has its own.
#include <new>

#include "runtime/heap/preload/process_malloc.h"

using huddle::heap::process_malloc;

void* operator new(std::size_t bytes) {
  if (void* const block = process_malloc.next().malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}

void operator delete(void* block) noexcept { process_malloc.next().free(block); }
void operator delete(void* block, std::size_t) noexcept { process_malloc.next().free(block); }
