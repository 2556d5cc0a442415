// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a team's protocols share. It grows when a protocol is used for the first time:
// all ranks come to that call together, so they can agree there on whether there was memory for
// all.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/context/native_context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/one_sided_fence.h"
#include "runtime/node/agreement.h"
#include "runtime/select/operation.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peers.h"
#include "runtime/team/set_up.h"

namespace huddle::team {

// The latest collective calls of a rank, in memory that its peers read. Ranks whose calls differ
// may run different protocols and wait for flags that no rank raises; a rank that waits long
// compares its call with those of its peers.

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
  context::CallStamp note(const CallArguments& arguments) {
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

class TeamMemory {
 public:
  // What a rank may have to say, with room for why it cannot.
  static constexpr std::size_t most_notice_bytes = 512;

  // All ranks throw the same FailureError or none does.
  TeamMemory(Peers& peers, const Bootstrap& bootstrap)
      : TeamMemory(peers, bootstrap, Joining(peers, bootstrap)) {}
  // The same in steps. `prepare` is part of what they agree on: it may throw.
  TeamMemory(Peers& peers, const Bootstrap& bootstrap, Joining& joining,
             const std::function<void()>& prepare);
  TeamMemory(const TeamMemory&) = delete;
  TeamMemory& operator=(const TeamMemory&) = delete;

  int rank() const { return members_->rank(); }
  int ranks() const { return members_->ranks(); }
  // Of this rank's pieces.
  std::size_t shared_bytes() const { return members_->own_bytes(); }

  // How waits are to be spent from now on. Kept by reference.
  void set_waiting(context::Waiting& waiting) { context_.waiting = &waiting; }
  // Throws PeerLost: a member has died, or has given up.
  void check_members();
  // Returns the records of this rank, which its peers read.
  CallRecords& call_records();
  // Throws CallsDiffer if a peer is known to have made another call than this rank, or one with
  // other arguments.
  void check_calls() const;
  // Waits until all peers have begun this number of calls.
  void await_calls(std::uint32_t number);
  // Left in good order, dead, or comes no more.
  bool is_gone(int rank) const { return members_->is_gone(rank) || has_given_up(rank); }
  // A pidfd of the rank's process, -1 where that is this very one; open as long as this lives.
  int process(int rank) const { return members_->process(rank); }

  // Everybody's notice, by rank, on the team's own board: good until the next one. Takes no memory.
  // Throws PeerLost.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<const T> gather(const T& mine) {
    static_assert(sizeof(T) <= most_notice_bytes);
    static_assert(alignof(T) <= alignof(std::max_align_t));
    show_and_read(std::as_bytes(std::span(&mine, 1)));
    return {reinterpret_cast<const T*>(notices_.data()), static_cast<std::size_t>(ranks())};
  }

  // This rank comes to no call of the team's any more: whoever waits for it hears why, and throws
  // PeerLost. What it did before can be seen by then.
  void give_up(const Trouble& why);

  // How all ranks tell each other, in common_start.h, from which call on they do something: this
  // one begins the next of those calls. pre: the fence is of one kind on all ranks.
  bool has_started(bool asks, const memory::OneSidedFence& fence) {
    context::NativeContext w(context_, {});
    return start_.has_started(w, asks, Fence{fence});
  }

  // What a rank brings to a protocol: so many bytes, of which the first hold the first sequence
  // number. The others hold anything: whoever touches them for the first time has their page
  // mapped, and large buffers that are never used cost nothing but their reservation.
  struct Memory {
    std::size_t bytes = 0;
    std::size_t flags_bytes = 0;
  };
  // Each rank brings a piece of memory as its `prepare` wants it. Returns where everybody's piece
  // is, by rank. All ranks throw the same FailureError or none does, also where it was `prepare`
  // that threw.
  std::vector<std::byte*> allocate(const std::function<Memory()>& prepare);

 private:
  TeamMemory(Peers& peers, const Bootstrap& bootstrap, Joining&& joining)
      : TeamMemory(peers, bootstrap, joining, [] {}) {}
  struct Fence {
    const memory::OneSidedFence& fence;
    void frequent_side(context::NativeContext& /*w*/) const { fence.frequent_side(); }
    void rare_side(context::NativeContext& /*w*/) const { fence.rare_side(); }
  };

  bool has_given_up(int rank) const;
  std::unique_ptr<Members> join(const Bootstrap& bootstrap, Joining& joining,
                                const std::function<void()>& prepare);
  void show_and_read(std::span<const std::byte> mine);

  Peers& peers_;
  std::vector<std::byte*> board_memory_;
  std::vector<std::byte> notices_;  // everybody's
  std::unique_ptr<Members> members_;
  node::NoticeBoard board_;
  node::CommonStart start_;
  context::ProtocolContext context_;
};

}  // namespace huddle::team
