// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Counts the memory that living children have copied from the heap of their parent.
#pragma once

#include <cstddef>
#include <span>

namespace huddle::memory {

// Each child holds a robust mutex in memory that it shares with its parent. The kernel releases it
// when the child ends or starts another program. No descriptor is needed, which the program might
// close. Children of children are not counted. Not thread-safe.
class ChildCopies {
 public:
  // Counts nothing if the process has no address space left.
  ChildCopies() noexcept;
  ~ChildCopies();
  ChildCopies(const ChildCopies&) = delete;
  ChildCopies& operator=(const ChildCopies&) = delete;

  // Returns the number of bytes that living children have copied.
  std::size_t living_bytes() noexcept;
  // Records before a fork that the child will copy these bytes. Returns false if too many children
  // with copies are alive.
  bool expect(std::size_t bytes) noexcept;
  // Records before a fork that the child will copy nothing.
  void expect_nothing() noexcept { next_ = nullptr; }
  // Call in the child, before it notifies its parent. Never blocks.
  void hold_in_child() noexcept;

 private:
  struct Entry;
  struct Table;

  static bool is_alive(Entry& entry) noexcept;
  std::span<Entry> made_entries() noexcept;
  Entry* unused_entry() noexcept;

  Table* table_;             // shared with the children; null if nothing is counted
  std::size_t made_ = 0;     // entries whose mutexes are initialized
  bool is_refused_ = false;  // robust mutexes are not supported, so nothing is counted
  Entry* next_ = nullptr;    // of the next child; null if it copies nothing
};

}  // namespace huddle::memory
