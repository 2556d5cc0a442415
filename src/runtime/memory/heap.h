// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A heap for the application's memory that peers can map, so that collectives can read and write
// the application's buffers directly. It is one address range, a mapping of one unnamed file. Pages
// are allocated when they are first touched, on the NUMA node of the thread that touches them, like
// any other memory.
//
// A child of fork() must not share the heap with its parent, so it gets a copy. If the copies of
// all living children would exceed a limit, the heap stops being shared with peers instead. Its
// blocks become private memory, which children inherit copy-on-write, like any other memory.
#pragma once

#include <pthread.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>

#include "common/file.h"
#include "common/system.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/arena_space.h"
#include "runtime/memory/child_copies.h"
#include "runtime/memory/cpu.h"
#include "runtime/memory/heap_pages.h"

namespace huddle::memory {

// A mutex that the forking thread holds during the fork. It recognises that thread, because fork
// handlers of other libraries run on it meanwhile and may call the heap.
class ForkMutex {
 public:
  // Spins first, because critical sections take less time than sleeping and waking up.
  void lock() {
    for (int tries = 0; tries < 100; ++tries) {
      if (mutex_.try_lock()) return;
      spin_pause();
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

  void lock_for_fork() {
    mutex_.lock();
    forking_.store(pthread_self(), std::memory_order_relaxed);
  }
  // Called in the parent and in the child.
  void unlock_after_fork() {
    forking_.store(nobody, std::memory_order_relaxed);
    mutex_.unlock();
  }
  // Returns whether the calling thread is in a fork: as the forking thread of the parent, or as the
  // only thread of the child. Relaxed order suffices, because only the thread itself ever stores
  // its own ID.
  bool is_forking_here() const {
    return forking_.load(std::memory_order_relaxed) == pthread_self();
  }

 private:
  static constexpr pthread_t nobody{};

  std::mutex mutex_;
  std::atomic<pthread_t> forking_{nobody};
};

// A socket pair through which a child reports to its parent that it has its copy. The parent does
// not block if the child dies or was never created.
class ForkLine {
 public:
  // Call before the fork. Returns false if the process has no descriptors left.
  bool open() noexcept;
  // Call after the fork, one in each process. They have no effect if the connection is not open.
  void wait_in_parent() noexcept;
  void notify_parent() noexcept;

 private:
  FileDescriptor parents_;
  FileDescriptor childs_;
};

// Throws FailureError if a heap would harm the program. If the kernel does not overcommit memory
// (vm.overcommit_memory=2), it charges a shared page only when the page is first touched: a program
// that runs out of memory would be killed by SIGBUS then, long after the allocation that should
// have failed. If the address space of the process is limited (`ulimit -v`), the heaps of all
// ranks, which each rank maps, would leave little of it to the program.
void check_heap_limits(const System& system);

// The part of a heap's state that changes while peers use the heap.
struct HeapState {
  // True while peers see what the owner writes. Read it after incrementing `calls`.
  std::atomic<bool> is_shared{true};
  // Number of collective calls in progress in which peers may access the heap. The pages must stay
  // shared meanwhile.
  std::atomic<int> calls{0};
};

// Describes a heap to code that does not allocate from it: this process's own heap, or a peer's
// heap that is to be mapped.
struct HeapFacts {
  std::byte* base = nullptr;  // address in its owner
  std::size_t cap_bytes = 0;
  int descriptor = -1;  // descriptor in its owner
  ArenaId id;
  HeapState* state = nullptr;  // in its owner; null: always shared

  // Returns whether the address lies in the heap.
  bool holds(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at - reinterpret_cast<std::uintptr_t>(base) < cap_bytes;
  }
  // Returns whether peers that have mapped the heap see the memory at the address.
  bool shows(const void* address) const noexcept {
    return holds(address) && (state == nullptr || state->is_shared.load());
  }
};

// Marks a collective call in progress: while this object exists, peers may access the heap. `heap`
// may be null.
class HeapUse {
 public:
  explicit HeapUse(const HeapFacts* heap) { begin(heap); }
  // Begins the use if it has not begun.
  void begin(const HeapFacts* heap) {
    if (state_ != nullptr || heap == nullptr) return;
    state_ = heap->state;
    state_->calls.fetch_add(1);
  }
  ~HeapUse() {
    if (state_ != nullptr) state_->calls.fetch_sub(1);
  }
  HeapUse(const HeapUse&) = delete;
  HeapUse& operator=(const HeapUse&) = delete;

 private:
  HeapState* state_ = nullptr;
};

// Allocates the blocks. Thread-safe.
class Heap {
 public:
  // Blocks consist of whole pairs of cache lines, because many CPUs prefetch lines in pairs.
  static constexpr std::size_t least_alignment = 128;
  // Default of most_copied_bytes: a fork copies this much in less than a second.
  static constexpr std::size_t usual_most_copied_bytes = std::size_t{1} << 30;

  // For debugging: with `checked`, an access beyond the end of a block or after the block was freed
  // faults, or the heap detects it later and aborts the program with a message. See heap_check.cc,
  // also for accesses by peers.
  enum class Care { usual, checked };

  // cap_bytes: maximum size; reserves address space, not memory. most_copied_bytes: maximum size of
  // the copies of all living children. Throws FailureError, or InputError if the cap is below
  // two pages.
  explicit Heap(std::size_t cap_bytes, std::size_t most_copied_bytes = usual_most_copied_bytes,
                Care care = Care::usual);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  enum class Content { any, zero };

  // Returns null if memory is exhausted, or if the heap is no longer shared: its blocks would then
  // have no advantage.
  // Requires: alignment is a power of two.
  void* allocate(std::size_t bytes, std::size_t alignment = least_alignment,
                 Content content = Content::any) noexcept;
  // Returns false if no block begins there: it was already freed, or never allocated. Accepts null.
  bool free(void* block) noexcept;
  // Extends the block in place to `bytes` bytes. Returns false, with no effect, if that is not
  // possible, for example because another block follows.
  bool grow(void* block, std::size_t bytes) noexcept;
  // Reduces the block in place to `bytes` bytes, rounded up. Returns false, with no effect, if that
  // is not possible.
  // Requires: 0 < bytes <= bytes_of(block).
  bool shrink(void* block, std::size_t bytes) noexcept;
  // Returns the memory of these pages to the system; they read as zeros until they are written.
  // Returns false if the system cannot do that, with errno set.
  // Requires: whole pages of blocks of this heap.
  bool clear(Piece pages) noexcept;
  // With `checked`, aborts the program with a message if a peer has accessed freed memory.
  void check_freed() const noexcept;
  // Returns the usable size of the block; 0 if no block begins there.
  std::size_t bytes_of(const void* block) const noexcept;

  // Returns whether the address lies in this heap.
  bool holds(const void* address) const noexcept { return facts().holds(address); }
  HeapFacts facts() const noexcept {
    return {view_.base(), view_.cap_bytes(), file_.descriptor(), id_, &state_};
  }

  std::size_t used_bytes() const;  // allocated in blocks
  // Upper bound of the memory in use: allocated blocks plus memory that is kept for later blocks.
  std::size_t held_bytes() const;

  // Records that a thread gets a stack in a block of the heap. Until that block is freed, each fork
  // ends the sharing of the heap: in the child, the C library changes its list of threads, which
  // lies in their stacks, before after_fork_in_child() can copy the blocks.
  void note_stack(const void* stack) noexcept;

  // Fork handlers for pthread_atfork(). Between before_fork() and the handler after the fork,
  // allocations of the forking thread fail, and its free() has no effect. The child copies all
  // blocks in after_fork_in_child(), and the parent continues only after that. If that would be too
  // much memory, or if the stack of a thread lies in a block, before_fork() makes the blocks
  // private instead, and the child inherits them.
  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  void after_fork_in_child() noexcept;

 private:
  struct Found {
    Piece piece;
    bool was_used = false;  // if true, its content is undefined
  };

  // Selects how a child gets the blocks.
  enum class AtFork { inherit, copy };

  using Lock = std::unique_lock<ForkMutex>;
  using Backing = ArenaSpace::Backing;

  std::optional<Found> find(std::size_t bytes, std::size_t alignment);
  std::optional<Found> find_or_make_room(std::size_t bytes, std::size_t alignment, Lock& lock);
  void return_pages_of(std::span<const Piece> parts, Lock& lock);
  bool return_to_system(Piece pages, bool is_private) const;
  bool reach(Piece piece);
  Piece piece_of(std::size_t address, std::size_t bytes) const;
  void* allocate_checked(std::size_t bytes, std::size_t alignment, Content content);
  void give_memory(Piece piece, Lock& lock);
  void free_checked(const CheckedBlock& block, Lock& lock);
  void use_freed_again();
  void look_at(Piece freed) const noexcept;
  std::size_t begin() const { return reinterpret_cast<std::uintptr_t>(view_.base()); }
  Piece in_file(Piece piece) const { return {piece.offset - begin(), piece.bytes}; }

  bool holds_stack_of_caller() const;
  bool holds_a_stack() const { return holds_stack_of_caller() || !stacks_.empty(); }
  void unshare_because_of_stack();
  AtFork choose_at_fork();
  AtFork prepare_copy();
  bool unshare();
  void end_fork() noexcept;
  bool end_sharing();
  bool map_all_anew() const;
  bool copy_blocks() const;
  bool make_blocks_private() const;
  void move_blocks_out_of_file() const;
  bool move_out_of_file(Piece pages) const;
  void move_page_by_page(Piece pages) const;
  template <class Act>
  bool for_each_run(const Act& act) const;
  template <class Act>
  void for_each_gap(const Act& act) const;
  std::size_t end_of_blocks() const;  // an address

  ArenaFile file_;
  ArenaView view_;
  ArenaId id_;
  std::size_t most_copied_bytes_;
  Care care_;
  mutable HeapState state_;
  mutable ForkMutex mutex_;  // guards the members below
  // The offset of a piece is an address here, because addresses have to be aligned.
  ArenaSpace space_;
  std::map<std::size_t, std::size_t> blocks_;  // size by address
  std::size_t used_bytes_ = 0;
  std::size_t file_bytes_ = 0;
  bool is_private_ = false;  // the pages are private to this process
  std::deque<Piece> freed_;  // with `checked`: freed pages that must not be accessed, oldest first
  std::set<std::size_t> stacks_;  // addresses of the stacks of threads in blocks
  AtFork at_fork_ = AtFork::inherit;
  int cancel_state_ = 0;  // of the forking thread before the fork
  ForkLine line_;
  ChildCopies copies_;
};

}  // namespace huddle::memory
