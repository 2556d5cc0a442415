// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a team's protocols share. The memory grows at the first use of a protocol. All
// ranks make that call, so they can agree on whether the allocation succeeded on every rank. The
// memory also contains records of each rank's latest calls.
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

#include "runtime/context/errors.h"
#include "runtime/context/native_context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/one_sided_fence.h"
#include "runtime/node/agreement.h"
#include "runtime/select/operation.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peers.h"
#include "runtime/team/set_up.h"

namespace huddle::team {

// The arguments that must be equal on all ranks, without sizes that only pairs of ranks know.
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

// Returns the error for two ranks whose calls differ, with a message such as "ranks make collective
// calls that differ: rank 0 calls bcast of 10 bytes with root 0, rank 1 calls bcast of 1000 bytes
// with root 0". The lower rank comes first.
context::CallsDiffer difference_of(int rank, const CallArguments& one, int other_rank,
                                   const CallArguments& other);

// The latest collective calls of a rank, written by that rank and read by its peers. Ranks whose
// calls differ may run different protocols and wait for flags that no rank sets, so a rank that
// waits long compares its calls with those of its peers. If a rank is more than `kept` calls ahead
// of a peer, which is rare, its overwritten records are not compared. Every call of the team is
// recorded, and a barrier takes little longer than a few cache misses: therefore the functions are
// inline, a record has two words, and a barrier writes none.
class CallRecords {
 public:
  static constexpr std::size_t kept = 128;

  // Returns the number of calls that this rank has begun. Calls are numbered from 1.
  std::uint32_t calls() const { return calls_.load(std::memory_order_relaxed); }
  void note_barrier() { calls_.store(calls() + 1, std::memory_order_release); }
  // The stamp also depends on that of a call that this one is a part of.
  context::CallStamp note(const CallArguments& arguments, context::CallStamp enclosing = {}) {
    const std::uint32_t number = calls() + 1;
    const std::uint32_t kind = kind_of(arguments);
    const std::uint64_t sizes = sizes_of(arguments);
    Record& record = records_[number % kept];
    record.sizes.store(sizes, std::memory_order_relaxed);
    record.call.store(std::uint64_t{number} << kind_bits | kind, std::memory_order_release);
    calls_.store(number, std::memory_order_release);
    return {number, sizes ^ std::uint64_t{kind} << kind_bits ^ enclosing.bits()};
  }

  // Offset of the call counter within this object, for a rank that waits for its peers' counters.
  static constexpr std::size_t calls_offset = 0;

  // Returns the arguments of a call, or nothing if it is not kept. May be called by any rank.
  std::optional<CallArguments> find(std::uint32_t number) const;

 private:
  struct Record {
    // The call's number, operation and root. Written last.
    std::atomic<std::uint64_t> call = 0;
    // The size of the call and of an element.
    std::atomic<std::uint64_t> sizes = 0;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "other processes read it");

  // Larger element sizes are truncated to their low bits.
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
  // Maximum size of a value for gather(). It must have space for a RankError.
  static constexpr std::size_t most_notice_bytes = 512;

  // Collective. Sets up the team. Either all ranks throw the same FailureError or none does.
  TeamMemory(Peers& peers, const Bootstrap& bootstrap)
      : TeamMemory(peers, bootstrap, TeamSetUp(peers, bootstrap)) {}
  // The same with a set-up that has already begun. `prepare` may throw: the ranks agree on whether
  // it succeeded on all of them.
  TeamMemory(Peers& peers, const Bootstrap& bootstrap, TeamSetUp& joining,
             const std::function<void()>& prepare);
  TeamMemory(const TeamMemory&) = delete;
  TeamMemory& operator=(const TeamMemory&) = delete;

  int rank() const { return members_->rank(); }
  int ranks() const { return members_->ranks(); }
  // Returns the total size of this rank's pieces.
  std::size_t shared_bytes() const { return members_->own_bytes(); }

  // Sets the policy of later waits. Keeps a reference.
  void set_waiting(context::Waiting& waiting) { context_.waiting = &waiting; }
  // Throws PeerLost if a rank has died, abandoned the team, or left it too early.
  void check_members();
  // Returns the records of this rank, which its peers read.
  CallRecords& call_records();
  // Throws CallsDiffer if the records show that a peer made another call or passed other arguments.
  void check_calls() const;
  // Waits until all peers have begun this number of calls.
  void await_calls(std::uint32_t number);
  // Returns whether the rank has left the team, died or abandoned the team after an error.
  bool is_gone(int rank) const { return members_->is_gone(rank) || has_given_up(rank); }
  // Returns a descriptor of the rank's process, or -1 for this one. Valid while this object lives.
  int process(int rank) const { return members_->process(rank); }

  // Collective allgather in shared memory. Returns the values by rank, valid until the next call.
  // Allocates no memory. Throws PeerLost.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<const T> gather(const T& mine) {
    static_assert(sizeof(T) <= most_notice_bytes);
    static_assert(alignof(T) <= alignof(std::max_align_t));
    show_and_read(std::as_bytes(std::span(&mine, 1)));
    return {reinterpret_cast<const T*>(notices_.data()), static_cast<std::size_t>(ranks())};
  }

  // Removes this rank from the team: peers that wait for it throw PeerLost with the reason. Its
  // earlier stores are visible to them by then.
  void abandon(const RankError& why);

  // Returns whether the behaviour that `asks` requests is in effect in the call that this rank now
  // begins. All ranks get the same answer; see node::CommonStart.
  // Requires: the fence is of the same kind on all ranks.
  bool has_started(bool asks, const memory::OneSidedFence& fence) {
    context::NativeContext ctx(context_, {});
    return start_.has_started(ctx, asks, Fence{fence});
  }

  // The memory that a rank allocates for a protocol: `bytes` bytes, of which the first
  // `flags_bytes` are initialized with the first sequence number. The rest is uninitialized: its
  // pages are mapped on first use, so that unused buffers cost only their reservation.
  struct Memory {
    std::size_t bytes = 0;
    std::size_t flags_bytes = 0;
  };
  // Collective. Each rank allocates a piece of the size that its `prepare` returns. Returns the
  // addresses of the pieces by rank. All ranks throw the same FailureError or none does.
  std::vector<std::byte*> allocate(const std::function<Memory()>& prepare);

 private:
  TeamMemory(Peers& peers, const Bootstrap& bootstrap, TeamSetUp&& joining)
      : TeamMemory(peers, bootstrap, joining, [] {}) {}
  struct Fence {
    const memory::OneSidedFence& fence;
    void frequent_side(context::NativeContext& /*w*/) const { fence.frequent_side(); }
    void rare_side(context::NativeContext& /*w*/) const { fence.rare_side(); }
  };

  bool has_given_up(int rank) const;
  void check_departures();
  std::unique_ptr<Members> join(const Bootstrap& bootstrap, TeamSetUp& joining,
                                const std::function<void()>& prepare);
  void show_and_read(std::span<const std::byte> mine);

  Peers& peers_;
  std::vector<std::byte*> board_memory_;
  std::vector<std::byte> notices_;  // of all ranks
  std::unique_ptr<Members> members_;
  node::SmallAllgather board_;
  node::CommonStart start_;
  context::ProtocolContext context_;
};

}  // namespace huddle::team
