// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The latest collective calls of a rank, in memory that its peers read. Ranks whose calls differ
// may run different protocols and wait for flags that no rank raises; a rank that waits long
// compares its call with those of its peers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "runtime/context/call_stamp.h"
#include "runtime/select/call.h"

namespace huddle::team {

// The arguments that have to be equal on all ranks of a call. Sizes that only pairs of ranks know
// are left out.
struct CallArguments {
  select::Operation operation = select::Operation::barrier;
  int root = 0;
  std::size_t bytes = 0;
  std::size_t element_bytes = 1;

  static CallArguments of(const select::Call& call) {
    const std::size_t element_bytes = call.element_bytes();
    return {call.operation, call.root, call.count * element_bytes, element_bytes};
  }
  bool operator==(const CallArguments&) const = default;
};

// Returns a sentence such as "ranks make collective calls that differ: rank 0 calls bcast of 10
// bytes with root 0, rank 1 calls bcast of 1000 bytes with root 0".
std::string described_difference(int rank, const CallArguments& one, int other_rank,
                                 const CallArguments& other);

// Written by one rank, read by all. A rank is seldom more calls ahead of a peer than are kept; if
// it is, nothing is known of the call. Every call of the team is noted here, and a barrier takes
// hardly longer than a few misses of the cache: hence functions in line, a record of two words, and
// none for a barrier.
class CallRecords {
 public:
  static constexpr std::size_t kept = 128;

  // Returns the number of calls that this rank has begun. The first one is number 1.
  std::uint32_t calls() const { return calls_.load(std::memory_order_relaxed); }
  void note_barrier() { calls_.store(calls() + 1, std::memory_order_release); }
  world::CallStamp note(const CallArguments& arguments) {
    const std::uint32_t number = calls() + 1;
    const std::uint32_t kind = kind_of(arguments);
    const std::uint64_t sizes = sizes_of(arguments);
    Record& record = records_[number % kept];
    record.sizes.store(sizes, std::memory_order_relaxed);
    record.call.store(std::uint64_t{number} << kind_bits | kind, std::memory_order_release);
    calls_.store(number, std::memory_order_release);
    return {number, sizes ^ std::uint64_t{kind} << kind_bits};
  }

  // The offset of the number of calls, for a rank that waits until its peers reach a number.
  static constexpr std::size_t calls_offset = 0;

  // May be called by any rank. Returns nothing if the call has not begun, or is not kept any more.
  std::optional<CallArguments> find(std::uint32_t number) const;

 private:
  struct Record {
    // The number, the operation and the root. Written last.
    std::atomic<std::uint64_t> call = 0;
    // The size, and of an element of a reduction.
    std::atomic<std::uint64_t> sizes = 0;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "other processes read it");

  // Only the low bits of a large element's size are kept.
  static constexpr int element_bits = 16;
  static constexpr int operation_bits = 5;
  static constexpr int kind_bits = 32;

  static constexpr std::uint32_t kind_of(const CallArguments& arguments) {
    return static_cast<std::uint32_t>(arguments.root) << operation_bits |
           static_cast<std::uint32_t>(arguments.operation);
  }
  static constexpr std::uint64_t sizes_of(const CallArguments& arguments) {
    return std::uint64_t{arguments.bytes} << element_bits |
           static_cast<std::uint16_t>(arguments.element_bytes);
  }
  static CallArguments arguments_of(std::uint32_t kind, std::uint64_t sizes);

  std::atomic<std::uint32_t> calls_ = 0;
  std::array<Record, kept> records_{};
};
static_assert(std::is_standard_layout_v<CallRecords>, "the number of calls comes first");

}  // namespace huddle::team
