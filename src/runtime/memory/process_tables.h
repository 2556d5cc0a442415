// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads the kernel's tables of this process below /proc/self: protections and locks of pages,
// mapped devices, and system calls in which threads wait. This is needed when pages stop being
// shared. Allocates nothing from malloc, because fork handlers of other libraries may hold locks
// that an allocation needs.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "runtime/memory/arena_space.h"

namespace huddle::memory {

// Wakes the threads of this process that wait on a shared futex in these pages, so that they read
// its value and wait again. Needed when the pages stop being shared: the kernel identifies such a
// futex by the file of its page, so that after the change FUTEX_WAKE would not find a thread that
// already waits. pthread_join() waits on such a futex, in the control block of the other thread.
// Requires: the offset of `pages` is an address; the pages were mapped from the beginning of the
// file.
void wake_futex_waiters(Piece pages, int file) noexcept;

// Returns whether a thread of this process may be waiting for data of a read into these pages. With
// O_DIRECT, the data arrive in the physical pages of the moment at which the read began.
bool may_be_read_into(Piece pages) noexcept;

// The protections of pages (mprotect) and which of them are locked (mlock). A new mapping of the
// pages loses both. If the process has no descriptors or address space left, nothing is known.
class PageAttributes {
 public:
  // Reads the attributes. The offset of `pages` is an address.
  explicit PageAttributes(Piece pages) noexcept;
  ~PageAttributes();
  PageAttributes(const PageAttributes&) = delete;
  PageAttributes& operator=(const PageAttributes&) = delete;

  // Returns a protection that permits all accesses which any of the pages permits.
  int widest_protection() const noexcept { return widest_; }
  // Returns whether a device or an asynchronous read may be writing to memory of this process: the
  // process has mapped a device, such as a network adapter, or a queue of the kernel. They write to
  // the physical pages that they got when they started, even if the process has new ones now.
  bool may_have_devices() const noexcept { return may_have_devices_; }
  // Sets the attributes of the pages, which have the widest protection and are not locked.
  void restore() const noexcept;

 private:
  struct Part {
    Piece pages;
    int protection = 0;
    bool is_locked = false;
  };
  struct Memory;

  void add(std::string_view line, Piece pages) noexcept;
  std::span<const Part> parts() const noexcept;

  Memory* memory_;  // its own mapping; null if there is no address space
  std::size_t count_ = 0;
  int widest_;
  bool may_have_devices_ = true;
};

}  // namespace huddle::memory
