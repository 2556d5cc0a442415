// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The malloc that comes after ours in the loader's search order: the C library's, if the user has
// not chosen another one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace huddle::heap {

// What the loader allocates while it looks for the next malloc. It is never used again.
class EarlyMemory {
 public:
  // Zero; null where it is used up.
  void* take(std::size_t bytes) noexcept;
  bool holds(const void* block) const noexcept { return room_behind(block) <= sizeof bytes_; }
  // To the end of it all; more than that where the block lies elsewhere.
  std::size_t room_behind(const void* block) const noexcept {
    return reinterpret_cast<std::uintptr_t>(bytes_.data() + bytes_.size()) -
           reinterpret_cast<std::uintptr_t>(block);
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 4096> bytes_{};
  std::size_t taken_ = 0;
};

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

}  // namespace huddle::heap
