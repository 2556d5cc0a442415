// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Store buffer of one rank: the stores that other ranks cannot see yet. Determines which of them
// may become visible next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "check/checker/accesses.h"
#include "runtime/context/context.h"

namespace huddle::check::checker {

// Order in which a rank's stores become visible to others.
enum class StoreOrder : std::uint8_t {
  x86,  // program order
  // any order, but stores to the same bytes keep program order, and a release store becomes visible
  // after all earlier stores
  arm,
};

struct PendingStore {
  context::Address place;
  std::size_t first = 0;  // offset in the whole memory
  std::vector<std::byte> bytes;
  bool is_flag = false;
  bool is_release = false;
  bool is_update = false;   // the second half of a read-modify-write
  bool is_held = false;     // stays in the buffer until let_go()
  bool was_passed = false;  // a later access of the rank overtook it
  Clock carried;

  std::uint64_t digest() const {
    std::uint64_t digest = mixed(first, bytes.size());
    for (const std::byte byte : bytes) digest = mixed(digest, static_cast<std::uint64_t>(byte));
    const int marks = (is_flag ? 1 : 0) + (is_release ? 2 : 0) + (is_update ? 4 : 0) +
                      (is_held ? 8 : 0) + (was_passed ? 16 : 0);
    return mixed(mixed(digest, static_cast<std::uint64_t>(marks)), carried.digest());
  }
  bool overlaps(std::size_t other_first, std::size_t n) const {
    return first < other_first + n && other_first < first + bytes.size();
  }
};

class StoreBuffer {
 public:
  explicit StoreBuffer(StoreOrder order) : order_(order) {}

  bool empty() const { return pending_.empty(); }
  std::span<const PendingStore> pending() const { return pending_; }
  void clear() { pending_.clear(); }

  // Returns whether a new store to these bytes must wait for stores in the buffer.
  bool must_queue(std::size_t first, std::size_t n, bool is_release) const;
  void push(PendingStore store) { pending_.push_back(std::move(store)); }
  // Returns whether only the scheduler holds the store at this index of pending().
  bool may_be_let_go(std::size_t index) const { return pending_[index].is_held && is_free(index); }
  void let_go(std::size_t index) { pending_[index].is_held = false; }
  void note_passed() {
    for (PendingStore& store : pending_) store.was_passed = true;
  }
  // Removes and returns the next store that is not held and that no earlier store delays.
  std::optional<PendingStore> take_ready();
  // Removes and returns the oldest store, even if it is held.
  // Requires: the buffer is not empty.
  PendingStore take_oldest();

  // Removes and returns the oldest store if it belongs to a read-modify-write of this flag.
  std::optional<PendingStore> take_update(std::size_t first);

  // Overlays `bytes`, read from memory, with this rank's own pending stores.
  void lay_over(std::size_t first, std::span<std::byte> bytes) const;
  // Returns whether a load of this flag gets its value from the buffer.
  bool has_flag(std::size_t first, std::size_t n) const;

 private:
  bool is_free(std::size_t index) const;
  PendingStore take(std::size_t index);

  StoreOrder order_;
  std::vector<PendingStore> pending_;  // oldest first
};

}  // namespace huddle::check::checker
