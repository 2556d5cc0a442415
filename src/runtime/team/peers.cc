// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/peers.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/team/joining.h"

namespace huddle::team {
namespace {

// How many of the teams left before are looked at whenever one is left or made: more than one, so
// that they become fewer; not all, so that a slow rank does not make the others slow.
constexpr std::size_t looks_at_departed = 4;

}  // namespace

Peers::Peers(std::shared_ptr<memory::Arena> arena, DescriptorRoute route)
    : arena_(std::move(arena)), route_(route), presence_(arena_), me_(ProcessIdentity::mine()) {}

Peers::~Peers() = default;

std::unique_ptr<Members> Peers::join(const Bootstrap& bootstrap, const Bring& bring) {
  return Joining(*this, bootstrap).run(bring);
}

std::unique_ptr<Members> Peers::join(const Bootstrap& bootstrap, std::size_t piece_bytes) {
  return join(bootstrap, [piece_bytes](memory::Arena& arena) {
    const memory::Piece piece = arena.allocate(piece_bytes);
    std::memset(arena.data(piece), 0, piece.bytes);
    return piece;
  });
}

std::size_t Peers::departed_teams() const {
  const std::scoped_lock lock(mutex_);
  return departed_.size();
}

std::shared_ptr<Peer> Peers::find(const memory::ArenaId& id) {
  const std::scoped_lock lock(mutex_);
  const auto known = known_.find(id);
  return known == known_.end() ? nullptr : known->second.lock();
}

// Another thread may have been faster: then its peer is everybody's.
std::shared_ptr<Peer> Peers::keep(const memory::ArenaId& id, std::shared_ptr<Peer> peer) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& known) { return known.second.expired(); });
  const auto [known, is_new] = known_.emplace(id, peer);
  if (is_new) return peer;
  if (auto earlier = known->second.lock()) return earlier;
  known->second = peer;
  return peer;
}

// The others may still read this rank's pieces, and so they stay until all have left; for good
// where there is no memory to remember them.
void Peers::leave(int rank, std::vector<Member> by_rank, std::vector<memory::Piece> pieces) {
  const Member mine = std::move(by_rank[static_cast<std::size_t>(rank)]);
  by_rank.erase(by_rank.begin() + rank);
  presence_.leave(mine.presence);
  try {
    const std::scoped_lock lock(mutex_);
    departed_.push_back({std::move(pieces), std::move(by_rank)});
  } catch (const std::bad_alloc&) {
    return;
  }
  free_departed();
}

void Peers::free_departed() {
  const std::scoped_lock lock(mutex_);
  for (std::size_t looks = std::min(looks_at_departed, departed_.size()); looks > 0; --looks) {
    Departed team = std::move(departed_.front());
    departed_.pop_front();
    std::erase_if(team.others, [](const Member& member) { return member.is_gone(); });
    if (team.others.empty()) {
      for (const memory::Piece piece : team.pieces) arena_->free(piece);
    } else {
      departed_.push_back(std::move(team));
    }
  }
}

}  // namespace huddle::team
