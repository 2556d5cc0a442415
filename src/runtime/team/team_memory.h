// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a team's protocols share. It grows when a protocol is used for the first time:
// all ranks come to that call together, so they can agree there on whether there was memory for
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/context/hardware/hardware.h"
#include "runtime/memory/one_sided_fence.h"
#include "runtime/node/common_start.h"
#include "runtime/node/notice_board.h"
#include "runtime/team/agree.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/call_record.h"
#include "runtime/team/joining.h"
#include "runtime/team/members.h"
#include "runtime/team/peers.h"

namespace huddle::team {

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
  void set_waiting(world::hardware::Waiting& waiting) { context_.waiting = &waiting; }
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
    world::hardware::Hardware w(context_, {});
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
    void frequent_side(world::hardware::Hardware& /*w*/) const { fence.frequent_side(); }
    void rare_side(world::hardware::Hardware& /*w*/) const { fence.rare_side(); }
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
  world::hardware::ProtocolContext context_;
};

}  // namespace huddle::team
