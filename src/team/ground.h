// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a team's protocols share. It grows when a protocol is used for the first time:
// all ranks come to that call together, so they can agree there on whether there was memory for
// all.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "node/notice_board.h"
#include "team/agree.h"
#include "team/bootstrap.h"
#include "team/members.h"
#include "team/peers.h"
#include "world/hardware/hardware.h"

namespace huddle::team {

class Ground {
 public:
  // All ranks throw the same FailureError or none does; also where a rank was in trouble before.
  Ground(Peers& peers, const Bootstrap& bootstrap, const Trouble& before = {});
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  int rank() const { return members_->rank(); }
  int ranks() const { return members_->ranks(); }

  // How waits are to be spent from now on. Kept by reference.
  void set_waiting(world::hardware::Waiting& waiting) { surroundings_.waiting = &waiting; }
  // Throws PeerLost.
  void check_members() { members_->check(); }
  // Left in good order, or dead.
  bool is_gone(int rank) const { return members_->is_gone(rank); }

  // A way to agree on something without the bootstrap, on no more than what a rank may have to say
  // when it lays out memory.
  const Bootstrap& agreement() const { return agreement_; }

  // Each rank brings a piece of as many bytes as its `prepare` returns, filled with the first
  // sequence number. Returns where everybody's piece is, by rank. All ranks throw the same
  // FailureError or none does, also where it was `prepare` that threw.
  std::vector<std::byte*> lay_out(const std::function<std::size_t()>& prepare);

 private:
  std::unique_ptr<Members> join(const Bootstrap& bootstrap, const Trouble& before);
  void show_and_read(std::span<const std::byte> mine, std::span<std::byte> all);

  Peers& peers_;
  std::vector<std::byte*> board_memory_;
  std::unique_ptr<Members> members_;
  node::NoticeBoard board_;
  world::hardware::Surroundings surroundings_;
  Bootstrap agreement_;
};

}  // namespace huddle::team
