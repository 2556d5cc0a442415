// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/members.h"

#include <fmt/format.h>

#include <cerrno>
#include <numeric>
#include <utility>
#include <vector>

#include "base/pidfd.h"
#include "team/peers.h"
#include "world/peer_lost.h"

namespace huddle::team {
namespace {

// Whether there is anything to look at. The kernel takes no more at once than RLIMIT_NOFILE allows,
// though many ranks may be threads of few processes; the limit may also have been lowered since.
bool look_at(std::vector<pollfd>& processes) {
  const int found = poll(processes.data(), processes.size(), 0);
  if (found >= 0 || errno == EINTR) return found > 0;
  for (pollfd& one : processes) {
    one.revents = is_dead(one.fd) ? POLLIN : static_cast<short>(0);
  }
  return true;
}

}  // namespace

bool Member::is_gone() const {
  return !is_present(peer->base(), presence) || is_dead(peer->process());
}

Members::Members(Peers& peers, int rank, int ranks) : peers_(peers), rank_(rank), ranks_(ranks) {
  by_rank_.reserve(static_cast<std::size_t>(ranks));
  processes_.reserve(static_cast<std::size_t>(ranks));
  pieces_.reserve(1);
}

Members::~Members() {
  if (by_rank_.size() != static_cast<std::size_t>(ranks_)) return;
  peers_.leave(rank_, std::move(by_rank_), std::move(pieces_));
}

void Members::admit(Member member) {
  if (by_rank_.size() == static_cast<std::size_t>(rank_)) pieces_.push_back(member.piece);
  processes_.push_back({member.peer->process(), POLLIN, 0});
  by_rank_.push_back(std::move(member));
}

std::size_t Members::own_bytes() const {
  return std::accumulate(
      pieces_.begin(), pieces_.end(), std::size_t{0},
      [](std::size_t bytes, const memory::Piece& piece) { return bytes + piece.bytes; });
}

void Members::give_back(memory::Piece piece) {
  std::erase(pieces_, piece);
  peers_.arena().free(piece);
}

void Members::check() {
  if (!look_at(processes_)) return;
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    if (processes_[rank].revents == 0) continue;
    const Member& dead = by_rank_[rank];
    if (is_present(dead.peer->base(), dead.presence)) {
      throw world::PeerLost(fmt::format("rank {} of the team has died", rank));
    }
    processes_[rank].fd = -1;  // it had left before; it need not be looked at again
  }
}

}  // namespace huddle::team
