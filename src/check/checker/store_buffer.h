// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The stores of one rank that the others cannot see yet, and which of them may leave next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "check/checker/accesses.h"
#include "runtime/context/context.h"

namespace huddle::check::checker {

// In which order a rank's stores become visible to others.
enum class StoreOrder : std::uint8_t {
  x86,  // that of the program
  arm,  // any, but stores to the same bytes in that of the program, and a release store last
};

struct PendingStore {
  context::Address place;
  std::size_t first = 0;  // of all memory
  std::vector<std::byte> bytes;
  bool is_flag = false;
  bool is_release = false;
  bool is_update = false;   // the second half of a read-modify-write
  bool is_held = false;     // stays until the scheduler lets it go
  bool was_passed = false;  // a later load or store of its rank is done already
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

  // Whether a new store to these bytes has to queue behind others.
  bool must_queue(std::size_t first, std::size_t n, bool is_release) const;
  void push(PendingStore store) { pending_.push_back(std::move(store)); }
  // Nothing but the scheduler's will keeps it: index of pending().
  bool may_be_let_go(std::size_t index) const { return pending_[index].is_held && is_free(index); }
  void let_go(std::size_t index) { pending_[index].is_held = false; }
  void note_passed() {
    for (PendingStore& store : pending_) store.was_passed = true;
  }
  // The next that leaves by itself.
  std::optional<PendingStore> take_ready();
  // The oldest, whatever holds it. pre: not empty.
  PendingStore take_oldest();

  // The half of a read-modify-write of this flag, if that is the oldest.
  std::optional<PendingStore> take_update(std::size_t first);

  // What this rank sees of its own stores, over what is in memory.
  void lay_over(std::size_t first, std::span<std::byte> bytes) const;
  // Whether a load of these bytes is served from here.
  bool has_flag(std::size_t first, std::size_t n) const;

 private:
  bool is_free(std::size_t index) const;
  PendingStore take(std::size_t index);

  StoreOrder order_;
  std::vector<PendingStore> pending_;  // oldest first
};

}  // namespace huddle::check::checker
