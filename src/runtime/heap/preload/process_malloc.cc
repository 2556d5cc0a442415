// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/preload/process_malloc.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/heap/preload/obstacle.h"
#include "runtime/heap/system_limits.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::heap {

using memory::Heap;

static_assert(std::is_trivially_destructible_v<ProcessMalloc>);
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a malloc is the process's
constinit ProcessMalloc process_malloc;

namespace {

// What the heap does about the system's answers is no business of the program's.
class ErrnoKept {
 public:
  ErrnoKept() = default;
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;
  ~ErrnoKept() { errno = kept_; }

 private:
  int kept_ = errno;
};

[[noreturn]] void end_of_program(std::string_view sentence) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sentence.data(), sentence.size());
  std::abort();
}

}  // namespace

void* ProcessMalloc::take(Large& large, std::size_t bytes, std::size_t alignment,
                          Heap::Content content) noexcept {
  const ErrnoKept kept;
  return large.heap.allocate(bytes, alignment, content);
}

void ProcessMalloc::give(Large& large, void* block) noexcept {
  const ErrnoKept kept;
  if (!large.heap.free(block)) end_of_program("huddle: heap: free(): no block begins there\n");
}

bool ProcessMalloc::grow(Large& large, void* block, std::size_t bytes) noexcept {
  const ErrnoKept kept;
  return large.heap.grow(block, bytes);
}

bool ProcessMalloc::has_pages(const void* first, std::size_t bytes) const noexcept {
  const Large* const large = large_.load(std::memory_order_acquire);
  if (large == nullptr || bytes == 0 || !large->heap.holds(first)) return false;
  return large->heap.holds(static_cast<const std::byte*>(first) + bytes - 1);
}

bool ProcessMalloc::is_shared() const noexcept {
  const Large* const large = large_.load(std::memory_order_acquire);
  return large != nullptr && large->heap.facts().state->is_shared;
}

bool ProcessMalloc::clear(void* first, std::size_t bytes) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  return large->heap.clear({reinterpret_cast<std::uintptr_t>(first), bytes});
}

void* ProcessMalloc::calloc(std::size_t count, std::size_t bytes) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  std::size_t all = 0;
  if (large != nullptr && !__builtin_mul_overflow(count, bytes, &all) &&
      all >= large->least_bytes) {
    if (void* const block = take(*large, all, 1, Heap::Content::zero)) return block;
  }
  return next_.calloc(count, bytes);
}

void* ProcessMalloc::memalign(std::size_t alignment, std::size_t bytes) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  // What is beyond every address is the next one's to refuse.
  if (large != nullptr && bytes >= large->least_bytes && alignment <= bytes) {
    if (void* const block = take(*large, bytes, std::bit_ceil(alignment))) return block;
  }
  return next_.memalign(alignment, bytes);
}

std::size_t ProcessMalloc::usable_bytes(void* block) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  if (large != nullptr && large->heap.holds(block)) return large->heap.bytes_of(block);
  return next_.usable_bytes(block);
}

void* ProcessMalloc::realloc(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  Large* const large = large_.load(std::memory_order_acquire);
  if (large == nullptr) return next_.realloc(block, bytes);
  if (large->heap.holds(block)) return move_from_heap(*large, block, bytes);
  return bytes < large->least_bytes ? next_.realloc(block, bytes)
                                    : move_to_heap(*large, block, bytes);
}

// It stays where it is while it fills at least half of its block.
void* ProcessMalloc::move_from_heap(Large& large, void* block, std::size_t bytes) noexcept {
  const std::size_t room = large.heap.bytes_of(block);
  if (room == 0) end_of_program("huddle: heap: realloc(): no block begins there\n");
  if (bytes <= room && bytes >= std::max(room / 2, large.least_bytes)) return block;
  if (bytes > room && grow(large, block, bytes)) return block;
  void* const moved = bytes == 0 ? nullptr : malloc(bytes);
  if (moved == nullptr && bytes > 0) return nullptr;  // and the block is as it was
  if (moved != nullptr) std::memcpy(moved, block, std::min(bytes, room));
  give(large, block);
  return moved;
}

// One that shrinks gains nothing by a move.
void* ProcessMalloc::move_to_heap(Large& large, void* block, std::size_t bytes) noexcept {
  const std::size_t room = next_.usable_bytes(block);
  void* const moved = bytes <= room ? nullptr : take(large, bytes);
  if (moved == nullptr) return next_.realloc(block, bytes);
  std::memcpy(moved, block, room);
  next_.free(block);
  return moved;
}

const huddle_heap& ProcessMalloc::start(const huddle_heap_wish& wish) noexcept {
  const ErrnoKept kept;
  const std::scoped_lock lock(starting_);
  // Whoever asked before may be reading the answer at this moment: a refusal stays as well.
  if (std::exchange(is_answered_, true)) return told_;
  try {
    open(wish);
  } catch (const std::exception& error) {
    std::strncpy(refusal_.data(), error.what(), refusal_.size() - 1);
    told_.refusal = refusal_.data();
  }
  return told_;
}

// Throws where that cannot be. What the C library itself holds while it forks is smaller than a
// page.
void ProcessMalloc::open(const huddle_heap_wish& wish) {
  throw_if_in_the_way();
  const System system;
  check_overcommit(system);
  const std::size_t copied =
      most_copied_bytes(wish.most_copied_bytes, system, memory::machine_bytes());
  auto* const large = new (place_.data())
      Large{Heap(wish.cap_bytes, copied, wish.checked ? Heap::Care::checked : Heap::Care::usual),
            std::max(wish.least_block_bytes, memory::page_bytes())};
  const memory::HeapFacts facts = large->heap.facts();
  told_ = {.refusal = nullptr,
           .base = facts.base,
           .cap_bytes = facts.cap_bytes,
           .descriptor = facts.descriptor,
           .id = {facts.id.words[0], facts.id.words[1]},
           .state = facts.state};
  large_.store(large, std::memory_order_release);
}

void ProcessMalloc::look_at_freed() const noexcept {
  if (const Large* const large = large_.load(std::memory_order_acquire)) {
    large->heap.look_at_freed();
  }
}

void ProcessMalloc::before_fork() noexcept {
  starting_.lock();
  if (Large* const large = large_.load(std::memory_order_relaxed)) large->heap.before_fork();
}

void ProcessMalloc::after_fork_in_parent() noexcept {
  if (Large* const large = large_.load(std::memory_order_relaxed)) {
    large->heap.after_fork_in_parent();
  }
  starting_.unlock();
}

void ProcessMalloc::after_fork_in_child() noexcept {
  if (Large* const large = large_.load(std::memory_order_relaxed)) {
    large->heap.after_fork_in_child();
  }
  starting_.unlock();
}

}  // namespace huddle::heap
