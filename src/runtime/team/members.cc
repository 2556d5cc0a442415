// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/members.h"

#include <fmt/format.h>

#include <cerrno>
#include <numeric>
#include <utility>
#include <vector>

#include "common/pidfd.h"
#include "runtime/context/peer_lost.h"
#include "runtime/team/peers.h"

namespace huddle::team {
namespace {

constexpr pollfd not_watched{-1, 0, 0};

bool is_watched(const pollfd& process) { return process.events != 0; }

// The kernel takes no more at once than RLIMIT_NOFILE allows, though many ranks may be threads of
// few processes; the limit may also have been lowered since.
void look_at(std::vector<pollfd>& processes) {
  if (poll(processes.data(), processes.size(), 0) >= 0) return;
  for (pollfd& one : processes) {
    one.revents = is_dead(one.fd) ? POLLIN : static_cast<short>(0);
  }
}

}  // namespace

bool Member::is_gone() const { return !is_present(peer->base(), presence) || peer->is_dead(); }

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

// A program may close descriptors that it does not know: their peers have new ones.
void Members::renew_descriptors() {
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    if (is_watched(processes_[rank])) processes_[rank].fd = by_rank_[rank].peer->process();
  }
}

void Members::check() {
  renew_descriptors();
  look_at(processes_);
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    pollfd& process = processes_[rank];
    const bool may_be_dead = process.revents != 0 || process.fd < 0;
    const Member& member = by_rank_[rank];
    if (!is_watched(process) || !may_be_dead || !member.peer->is_dead()) continue;
    if (is_present(member.peer->base(), member.presence)) {
      throw world::PeerLost(fmt::format("rank {} of the team has died", rank));
    }
    process = not_watched;  // it had left before
  }
}

}  // namespace huddle::team
