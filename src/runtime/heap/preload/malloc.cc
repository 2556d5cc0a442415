// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The allocation functions that replace those of the C library. The C++ library's new and delete
// call malloc and free.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "common/arithmetic.h"
#include "runtime/heap/preload/process_malloc.h"
#include "runtime/memory/page_buffer.h"

using huddle::heap::process_malloc;

namespace {

void* without_memory() {
  errno = ENOMEM;
  return nullptr;
}

bool is_on_page(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % huddle::memory::page_bytes() == 0;
}

[[gnu::constructor(101)]] void set_up() {
  process_malloc.register_fork_handlers();
  huddle::heap::start_at_once_if_asked();
}

[[gnu::destructor]] void look_once_more() { process_malloc.check_freed(); }

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) noexcept { return process_malloc.malloc(bytes); }

void free(void* block) noexcept { process_malloc.free(block); }

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return process_malloc.calloc(count, bytes);
}

void* realloc(void* block, std::size_t bytes) noexcept {
  return process_malloc.realloc(block, bytes);
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return without_memory();
  return process_malloc.realloc(block, all);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return process_malloc.memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return process_malloc.memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int kept = errno;
  void* const found = process_malloc.memalign(alignment, bytes);
  errno = kept;
  if (found == nullptr) return ENOMEM;
  *block = found;
  return 0;
}

void* valloc(std::size_t bytes) noexcept {
  return process_malloc.memalign(huddle::memory::page_bytes(), bytes);
}

void* pvalloc(std::size_t bytes) noexcept {
  const std::size_t page = huddle::memory::page_bytes();
  if (bytes > SIZE_MAX - page) return without_memory();
  return process_malloc.memalign(page, huddle::round_up(bytes, page));
}

std::size_t malloc_usable_size(void* block) noexcept { return process_malloc.usable_bytes(block); }

// For pages of the heap, gives MADV_DONTNEED and MADV_FREE the meaning that they have for private
// memory: the pages read as zeros afterwards. Because the heap's pages belong to a file, the kernel
// would only unmap them and keep their content. All other calls, including the heap's own, go to
// the next madvise in the loader's search order: a memory hook's or the C library's.
int madvise(void* first, std::size_t bytes, int advice) noexcept {
  const bool drops = advice == MADV_DONTNEED || advice == MADV_FREE;
  const std::size_t pages = huddle::round_up(bytes, huddle::memory::page_bytes());
  if (drops && is_on_page(first) && process_malloc.has_pages(first, pages)) {
    return process_malloc.clear(first, pages) ? 0 : -1;
  }
  // Ignores the request, because a child that inherited shared pages would write to its parent's
  // memory. The child gets a copy of all blocks anyway.
  if (advice == MADV_DOFORK && is_on_page(first) && process_malloc.is_shared() &&
      process_malloc.has_pages(first, pages)) {
    return 0;
  }
  return process_malloc.next().madvise(first, bytes, advice);
}

const huddle_heap* huddle_heap_start(const huddle_heap_request* request) {
  return request->version == huddle::heap::version ? &process_malloc.start(*request) : nullptr;
}
}
