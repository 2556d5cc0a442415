// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/peers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/other_processes.h"
#include "runtime/context/errors.h"
#include "runtime/team/set_up.h"

namespace huddle::team {

// If the process id has been reused by another process, is_arena() fails, because that process does
// not have this heap open.
std::shared_ptr<const memory::ArenaView> HeapViews::open(const ProcessIdentity& owner,
                                                         const HeapAddress& address) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& known) { return known.second.expired(); });
  auto& known = known_[address.id];
  if (auto view = known.lock()) return view;
  const std::string path = fmt::format("/proc/{}/fd/{}", owner.pid, address.descriptor);
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) throw FailureError(std::strerror(errno));
  if (!memory::is_arena(file.number(), address.id, address.cap_bytes)) {
    throw FailureError("the opened file is not the heap of that rank, which may have ended");
  }
  auto view = std::make_shared<const memory::ArenaView>(file.number(), address.cap_bytes);
  known = view;
  return view;
}

namespace {

constexpr pollfd not_watched{-1, 0, 0};

bool is_watched(const pollfd& process) { return process.events != 0; }

// Polls the descriptors one by one if poll() fails because it gets more entries than RLIMIT_NOFILE:
// there may be more ranks than processes, and the limit may have been lowered.
void look_at(std::vector<pollfd>& processes) {
  if (poll(processes.data(), processes.size(), 0) >= 0) return;
  for (pollfd& one : processes) {
    one.revents = is_dead(one.fd) ? POLLIN : static_cast<short>(0);
  }
}

}  // namespace

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

void Members::free(memory::Piece piece) {
  std::erase(pieces_, piece);
  peers_.arena().free(piece);
}

// The application may have closed descriptors that it did not open. The Peer has then opened a new
// one.
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
    if (member.is_present()) {
      throw context::PeerLost(
          fmt::format("rank {} of the team has died; see its output for the reason", rank));
    }
    process = not_watched;  // the rank had left the team before its process died
  }
}

namespace {

// Number of departed teams (see Peers::departed_teams()) that are checked whenever a team is set up
// or left: more than one, so that the backlog shrinks; not all, because a slow rank can delay the
// freeing of many teams.
constexpr std::size_t looks_at_departed = 4;

}  // namespace

Peers::Peers(std::shared_ptr<memory::Arena> arena, DescriptorRoute route)
    : arena_(std::move(arena)), route_(route), presence_(arena_), me_(ProcessIdentity::mine()) {}

Peers::~Peers() = default;

std::unique_ptr<Members> Peers::join(const Bootstrap& bootstrap, const AllocatePiece& bring) {
  return TeamSetUp(*this, bootstrap).run(bring);
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

// If another thread has added the same peer meanwhile, returns that one.
std::shared_ptr<Peer> Peers::keep(const memory::ArenaId& id, std::shared_ptr<Peer> peer) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& known) { return known.second.expired(); });
  const auto [known, is_new] = known_.emplace(id, peer);
  if (is_new) return peer;
  if (auto earlier = known->second.lock()) return earlier;
  known->second = peer;
  return peer;
}

// Keeps this rank's pieces until all ranks have left, because peers may still read them. If there
// is no memory to record the pieces, they are never freed.
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

// Allocates no memory, because destructors call this.
void Peers::free_departed() {
  const std::scoped_lock lock(mutex_);
  for (std::size_t looks = std::min(looks_at_departed, departed_.size()); looks > 0; --looks) {
    const auto team = departed_.begin();
    std::erase_if(team->others, [](const Member& member) { return member.is_gone(); });
    if (team->others.empty()) {
      for (const memory::Piece piece : team->pieces) arena_->free(piece);
      departed_.erase(team);
    } else {
      departed_.splice(departed_.end(), departed_, team);
    }
  }
}

}  // namespace huddle::team
