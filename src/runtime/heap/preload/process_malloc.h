// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The malloc of a process: once the shared heap has been started, large blocks come from it.
// Everything else comes from the malloc that the program would use without this library.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "runtime/heap/start.h"
#include "runtime/memory/heap.h"

namespace huddle::heap {

// Memory for the loader's own allocations during the search for the next malloc. It is never
// reused.
class EarlyMemory {
 public:
  // Returns zeroed memory, or null if it is exhausted.
  void* take(std::size_t bytes) noexcept;
  bool holds(const void* block) const noexcept { return room_behind(block) <= sizeof bytes_; }
  // Returns the number of bytes from the block to the end of this memory, or a number larger than
  // its size if the block is elsewhere.
  std::size_t room_behind(const void* block) const noexcept {
    return reinterpret_cast<std::uintptr_t>(bytes_.data() + bytes_.size()) -
           reinterpret_cast<std::uintptr_t>(block);
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 4096> bytes_{};
  std::size_t taken_ = 0;
};

// The next malloc in the loader's search order: the C library's, unless another is preloaded.
using ForkHandler = void();

class Next {
 public:
  void* malloc(std::size_t bytes) noexcept { return calls().malloc(bytes); }
  void* calloc(std::size_t count, std::size_t bytes) noexcept {
    return calls().calloc(count, bytes);
  }
  void* realloc(void* block, std::size_t bytes) noexcept;
  void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
    return calls().memalign(alignment, bytes);
  }
  void free(void* block) noexcept {
    if (!early_.holds(block)) calls().free(block);
  }
  int madvise(void* first, std::size_t bytes, int advice) noexcept {
    return calls().madvise(first, bytes, advice);
  }
  int register_atfork(ForkHandler* prepare, ForkHandler* parent, ForkHandler* child,
                      void* library) noexcept {
    return calls().register_atfork(prepare, parent, child, library);
  }
  int pthread_attr_setstack(pthread_attr_t* attributes, void* stack, std::size_t bytes) noexcept {
    return calls().pthread_attr_setstack(attributes, stack, bytes);
  }
  std::size_t usable_bytes(void* block) noexcept {
    return early_.holds(block) ? early_.room_behind(block) : calls().malloc_usable_size(block);
  }

 private:
  struct Calls {
    void* (*malloc)(std::size_t) noexcept = nullptr;
    void* (*calloc)(std::size_t, std::size_t) noexcept = nullptr;
    void* (*realloc)(void*, std::size_t) noexcept = nullptr;
    void* (*memalign)(std::size_t, std::size_t) noexcept = nullptr;
    void (*free)(void*) noexcept = nullptr;
    std::size_t (*malloc_usable_size)(void*) noexcept = nullptr;
    int (*madvise)(void*, std::size_t, int) noexcept = nullptr;
    int (*register_atfork)(ForkHandler*, ForkHandler*, ForkHandler*, void*) noexcept = nullptr;
    int (*pthread_attr_setstack)(pthread_attr_t*, void*, std::size_t) noexcept = nullptr;
  };

  const Calls& calls() noexcept {
    const Calls* const found = found_.load(std::memory_order_acquire);
    return found != nullptr ? *found : find();
  }
  const Calls& find() noexcept;

  static const Calls early_calls;
  std::atomic<const Calls*> found_{nullptr};
  Calls calls_;
  EarlyMemory early_;
};

class ProcessMalloc {
 public:
  // Like the C functions of the same names.
  void* malloc(std::size_t bytes) noexcept {
    Large* const large = large_.load(std::memory_order_acquire);
    if (large != nullptr && bytes >= large->least_bytes) [[unlikely]] {
      if (void* const block = take(*large, bytes)) return block;
    }
    return next_.malloc(bytes);
  }
  void* calloc(std::size_t count, std::size_t bytes) noexcept;
  void* realloc(void* block, std::size_t bytes) noexcept;
  void free(void* block) noexcept {
    Large* const large = large_.load(std::memory_order_acquire);
    if (large != nullptr && large->heap.holds(block)) [[unlikely]] {
      give(*large, block);
    } else {
      next_.free(block);
    }
  }
  std::size_t usable_bytes(void* block) noexcept;
  // Returns null with errno set if memory is exhausted. Accepts any alignment.
  void* memalign(std::size_t alignment, std::size_t bytes) noexcept;

  // Returns whether all of these pages belong to the heap.
  bool has_pages(const void* first, std::size_t bytes) const noexcept;
  // Returns whether the heap exists and is still shared with peers.
  bool is_shared() const noexcept;
  // Returns the memory of these pages to the system; they read as zeros afterwards. Returns false
  // if the system cannot do that, with errno set.
  // Requires: whole pages for which has_pages() is true.
  bool clear(void* first, std::size_t bytes) noexcept;

  const huddle_heap& start(const huddle_heap_request& request) noexcept;

  // In checked mode, aborts the program with a message if a peer has accessed freed memory. Call
  // when the process ends.
  void check_freed() const noexcept;

  // Registers the fork handlers, unless it has done so before.
  void register_fork_handlers() noexcept;
  // Records the stack that a thread gets, which may lie in a block of the heap.
  void note_stack(const void* stack) noexcept;
  // Fork handlers; see memory::Heap.
  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  void after_fork_in_child() noexcept;

  Next& next() { return next_; }

 private:
  struct Large {
    memory::Heap heap;
    std::size_t least_bytes;
  };

  static void* take(Large& large, std::size_t bytes, std::size_t alignment = 1,
                    memory::Heap::Content content = memory::Heap::Content::any) noexcept;
  static void give(Large& large, void* block) noexcept;
  static bool grow(Large& large, void* block, std::size_t bytes) noexcept;
  static bool shrink(Large& large, void* block, std::size_t bytes) noexcept;
  static void move_content(Large& large, void* to, void* block, std::size_t bytes) noexcept;
  void* move_from_heap(Large& large, void* block, std::size_t bytes) noexcept;
  void* move_to_heap(Large& large, void* block, std::size_t bytes) noexcept;
  void open(const huddle_heap_request& request);

  Next next_;
  std::atomic<Large*> large_{nullptr};  // null: not started
  std::atomic<bool> has_fork_handlers_{false};
  std::mutex starting_;       // guards the members below
  bool is_answered_ = false;  // start() has run; its result is final
  huddle_heap told_{};
  std::array<char, 256> refusal_{};
  alignas(Large) std::array<std::byte, sizeof(Large)> place_{};
};

// Constant-initialised and never destroyed, because memory is allocated before any constructor and
// freed after the last exit handler.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): malloc is process-wide
[[gnu::visibility("hidden")]] extern constinit ProcessMalloc process_malloc;

// For tests: if TEST_HUDDLE_HEAP=at-once, starts the heap before main(). Reads settings from the
// environment only.
void start_at_once_if_asked() noexcept;

}  // namespace huddle::heap
