// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory of the program's own that peers can map: what a rank hands to a collective from here is
// read, and written, where it lies. One range of addresses over one file without a name; pages come
// when they are touched first, and so on the NUMA node of whoever does, as with any other memory.
//
// A child of fork() shares nothing with its parent. Above a cap its copy would take too long: then
// the heap is one no more, and both have their blocks as after any other fork.
#pragma once

#include <pthread.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "common/file.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/arena_space.h"
#include "runtime/memory/cpu.h"
#include "runtime/memory/heap_pages.h"

namespace huddle::memory {

// A mutex that a thread may hold while it forks, and then knows by that it does: others' handlers
// of the same fork may want what it guards.
class ForkMutex {
 public:
  // What it guards takes less time than to fall asleep and be woken.
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
  // In the parent, and in the child.
  void unlock_after_fork() {
    forking_.store(nobody, std::memory_order_relaxed);
    mutex_.unlock();
  }
  // Whether it is the calling thread that forks, in the parent or as the child's only one. No other
  // thread ever stores its name, so that no order is needed.
  bool is_forking_here() const {
    return forking_.load(std::memory_order_relaxed) == pthread_self();
  }

 private:
  static constexpr pthread_t nobody{};

  std::mutex mutex_;
  std::atomic<pthread_t> forking_{nobody};
};

// By which a child tells its parent that it is ready. A child that dies, or was never made, keeps
// nobody waiting.
class ForkLine {
 public:
  // Before the fork. False where the process has no descriptors left.
  bool open() noexcept;
  // After the fork, in each of the two; nothing where it is not open.
  void wait_in_parent() noexcept;
  void tell_in_child() noexcept;

 private:
  FileDescriptor parents_;
  FileDescriptor childs_;
};

// What changes while others know of it.
struct HeapState {
  // Whether what the owner writes is what peers see. To be asked when `calls` has been raised, not
  // before.
  std::atomic<bool> is_shared{true};
  // Calls under way whose peers may read or write there: the pages stay what they are meanwhile.
  std::atomic<int> calls{0};
};

// What somebody has to know to use a heap that is not theirs to allocate from: this process's own,
// or a peer's, to map it.
struct HeapFacts {
  std::byte* base = nullptr;  // in its owner
  std::size_t cap_bytes = 0;
  int descriptor = -1;  // in its owner
  ArenaId id;
  HeapState* state = nullptr;  // in its owner; null: it never changes

  // Whether it is an address of that heap's.
  bool holds(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at - reinterpret_cast<std::uintptr_t>(base) < cap_bytes;
  }
  // Whether peers see what lies there.
  bool shows(const void* address) const noexcept {
    return holds(address) && (state == nullptr || state->is_shared.load());
  }
};

// As long as it is there, peers may be at what this heap shows. Null: there is no heap.
class HeapUse {
 public:
  explicit HeapUse(const HeapFacts* heap) : state_(heap == nullptr ? nullptr : heap->state) {
    if (state_ != nullptr) state_->calls.fetch_add(1);
  }
  ~HeapUse() {
    if (state_ != nullptr) state_->calls.fetch_sub(1);
  }
  HeapUse(const HeapUse&) = delete;
  HeapUse& operator=(const HeapUse&) = delete;

 private:
  HeapState* state_;
};

// May be used by several threads at once.
class Heap {
 public:
  // Blocks begin on their own pair of lines.
  static constexpr std::size_t least_alignment = 128;
  // Copied in less than a second: with more in its hands a program would notice.
  static constexpr std::size_t usual_most_copied_bytes = std::size_t{1} << 30;

  // For whoever looks for an error: with `checked` a block is used within its bounds and until it
  // is freed, by its owner and by peers, or the program ends with a sentence.
  enum class Care { usual, checked };

  // cap_bytes: the most that it may ever hold; costs addresses, not memory. most_copied_bytes: a
  // fork copies so much, and no more. Throws FailureError, InputError where the cap is below two
  // pages.
  explicit Heap(std::size_t cap_bytes, std::size_t most_copied_bytes = usual_most_copied_bytes,
                Care care = Care::usual);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  enum class Content { any, zero };

  // Null where it is not to be had, and from a heap that is not shared any more: there is nothing
  // to gain by it. pre: alignment is a power of two.
  void* allocate(std::size_t bytes, std::size_t alignment = least_alignment,
                 Content content = Content::any) noexcept;
  // False where no block begins there: it has been freed already, or never was one. Null is fine.
  bool free(void* block) noexcept;
  // Makes it hold so much where it lies, or changes nothing where there is no room behind it.
  bool grow(void* block, std::size_t bytes) noexcept;
  // What is in these pages is zero from now on, and takes no memory until it is written. False, and
  // errno, where the system cannot do that. pre: whole pages of blocks of this heap's.
  bool clear(Piece pages) noexcept;
  // With `checked`: whether anybody, peers too, has touched what was freed.
  void look_at_freed() const noexcept;
  // What there is room for in it; 0 where no block begins there.
  std::size_t bytes_of(const void* block) const noexcept;

  // Whether it is an address of this heap's.
  bool holds(const void* address) const noexcept { return facts().holds(address); }
  HeapFacts facts() const noexcept {
    return {view_.base(), view_.cap_bytes(), file_.descriptor(), id_, &state_};
  }

  std::size_t used_bytes() const;  // in blocks
  // That it takes of the machine at most: what is in blocks, and what is kept for the next ones.
  std::size_t held_bytes() const;

  // Around every fork(), called by the thread that forks; nothing is allocated meanwhile, and what
  // this thread frees stays where it is. The child has all that was in blocks; the parent does not
  // go on before it has. For pthread_atfork().
  // If the stack of that thread lies in a block, the heap is not shared any more afterwards: the
  // child uses its stack before after_fork_in_child() can copy it.
  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  void after_fork_in_child() noexcept;

 private:
  struct Found {
    Piece piece;
    bool was_used = false;  // so that anything may stand in it
  };

  // What is done with the pages when the process forks.
  enum class AtFork { nothing, copy, freeze };

  using Lock = std::unique_lock<ForkMutex>;
  using Backing = ArenaSpace::Backing;

  std::optional<Found> find(std::size_t bytes, std::size_t alignment);
  std::optional<Found> find_or_make_room(std::size_t bytes, std::size_t alignment, Lock& lock);
  void give_back_pages_of(std::span<const Piece> parts, Lock& lock);
  bool give_back(Piece pages, bool is_private) const;
  bool reach(Piece piece);
  Piece piece_of(std::size_t address, std::size_t bytes) const;
  void* allocate_checked(std::size_t bytes, std::size_t alignment, Content content);
  void free_checked(const CheckedBlock& block, Lock& lock);
  void use_freed_again();
  void look_at(Piece freed) const noexcept;
  std::size_t begin() const { return reinterpret_cast<std::uintptr_t>(view_.base()); }
  Piece in_file(Piece piece) const { return {piece.offset - begin(), piece.bytes}; }

  bool holds_stack_of_caller() const;
  void freeze_before_fork();
  AtFork choose_at_fork();
  bool stop_sharing();
  bool map_all_anew() const;
  bool fill_child() const;
  bool copy_blocks() const;
  bool freeze_blocks() const;
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
  mutable ForkMutex mutex_;  // guards what follows
  // Pieces are told by their addresses: those are what is to be aligned.
  ArenaSpace space_;
  std::map<std::size_t, std::size_t> blocks_;  // bytes by address
  std::size_t used_bytes_ = 0;
  std::size_t file_bytes_ = 0;
  bool is_private_ = false;  // the pages are this process's own
  std::deque<Piece> freed_;  // with `checked`: what nobody may touch any more, the oldest first
  AtFork at_fork_ = AtFork::nothing;
  ForkLine line_;
};

}  // namespace huddle::memory
