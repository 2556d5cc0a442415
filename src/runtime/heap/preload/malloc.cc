// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The functions that programs call. new and delete come here as well, by malloc and free.
#include <malloc.h>
#include <pthread.h>
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

// Among the first handlers of a fork: others may hold locks until theirs, behind which the data
// that the child is given do not change. And before a thread can fork.
[[gnu::constructor(101)]] void set_up() {
  pthread_atfork([] { process_malloc.before_fork(); },
                 [] { process_malloc.after_fork_in_parent(); },
                 [] { process_malloc.after_fork_in_child(); });
  huddle::heap::start_at_once_if_asked();
}

[[gnu::destructor]] void look_once_more() { process_malloc.look_at_freed(); }

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

// Of a block's pages, to a program that knows them for its own: who drops them finds zeros. Of a
// file's, which the heap's are, the kernel would only forget where they are mapped. The next one is
// the C library's, or of somebody who watches what memory goes: the heap's own calls come by here.
int madvise(void* first, std::size_t bytes, int advice) noexcept {
  const bool drops = advice == MADV_DONTNEED || advice == MADV_FREE;
  const std::size_t pages = huddle::round_up(bytes, huddle::memory::page_bytes());
  if (drops && is_on_page(first) && process_malloc.has_pages(first, pages)) {
    return process_malloc.clear(first, pages) ? 0 : -1;
  }
  // A child that gets shared pages would write to its parent's memory. It gets a copy of all blocks
  // instead, as of ordinary memory.
  if (advice == MADV_DOFORK && is_on_page(first) && process_malloc.is_shared() &&
      process_malloc.has_pages(first, pages)) {
    return 0;
  }
  return process_malloc.next().madvise(first, bytes, advice);
}

const huddle_heap* huddle_heap_start(const huddle_heap_wish* wish) {
  return wish->version == huddle::heap::version ? &process_malloc.start(*wish) : nullptr;
}
}
