// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/set_up.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/error.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/group_configuration.h"

namespace huddle::team {
namespace {

// Time limit of the exchange of descriptors. All ranks take part at the same time, so the duration
// depends on when the slowest rank is scheduled.
constexpr std::chrono::seconds exchange_limit{30};

}  // namespace

TeamSetUp::TeamSetUp(Peers& peers, const Bootstrap& bootstrap)
    : peers_(peers),
      bootstrap_(bootstrap),
      rank_(static_cast<std::size_t>(bootstrap.rank)),
      ranks_(static_cast<std::size_t>(bootstrap.ranks)) {}

TeamSetUp::TeamSetUp(Peers& peers, const Bootstrap& bootstrap, const GroupConfiguration& group,
                     std::uint64_t decisions)
    : TeamSetUp(peers, bootstrap) {
  group_ = &group;
  decisions_ = decisions;
}

TeamSetUp::~TeamSetUp() {
  if (is_done_) return;
  if (address_.presence.ticket != 0) peers_.presence_.leave(address_.presence);
  peers_.arena_->free(address_.piece);
}

std::unique_ptr<Members> TeamSetUp::run(const Peers::AllocatePiece& bring) {
  if (group_ != nullptr) return run_in_known_group(bring);
  address_.rank_error = RankError::of([&] {
    allocate_memory();
    fill_address(bring);
  });
  if (!has_memory_) addresses_.resize(ranks_);
  gather_to(std::span(addresses_), bootstrap_, address_);
  throw_first(std::span<const PeerAddress>(addresses_), &PeerAddress::rank_error);
  check_addresses();
  reach_all();
  if (anybody_needs_anything()) exchange();
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    members_->admit({reached_[rank], addresses_[rank].piece, addresses_[rank].presence});
  }
  is_done_ = true;
  return std::move(members_);
}

// Stores the presence entry and the piece in address_ first, so that the destructor frees them on
// failure.
std::unique_ptr<Members> TeamSetUp::run_in_known_group(const Peers::AllocatePiece& bring) {
  Offer mine;
  mine.decisions = decisions_;
  mine.rank_error = RankError::of([&] { fill_offer(bring); });
  mine.piece = address_.piece;
  mine.presence = address_.presence;
  with_room_by_rank<Offer>(bootstrap_.ranks, [&](std::span<Offer> offers) {
    gather_to(offers, bootstrap_, mine);
    throw_first(std::span<const Offer>(offers), &Offer::rank_error);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      members_->admit({group_->peers()[rank], offers[rank].piece, offers[rank].presence});
    }
    same_decisions_ = std::all_of(offers.begin(), offers.end(), [&](const Offer& offer) {
      return offer.decisions == mine.decisions;
    });
  });
  is_done_ = true;
  return std::move(members_);
}

void TeamSetUp::fail_set_up(const Bootstrap& bootstrap) {
  Offer mine;
  mine.rank_error =
      RankError("no memory is left to set up a team; free memory, or start fewer ranks");
  with_room_by_rank<Offer>(bootstrap.ranks,
                           [&](std::span<Offer> offers) { gather_to(offers, bootstrap, mine); });
}

void TeamSetUp::fill_offer(const Peers::AllocatePiece& bring) {
  peers_.free_departed();
  members_ = std::make_unique<Members>(peers_, bootstrap_.rank, bootstrap_.ranks);
  address_.presence = peers_.presence_.enter();
  address_.piece = bring(*peers_.arena_);
}

void TeamSetUp::allocate_memory() {
  if (has_memory_) return;
  addresses_.resize(ranks_);
  socket_names_.resize(ranks_);
  errors_.resize(ranks_);
  peers_.free_departed();
  members_ = std::make_unique<Members>(peers_, bootstrap_.rank, bootstrap_.ranks);
  reached_.resize(ranks_);
  report_.resize(report_bytes());
  reports_.resize(report_bytes() * ranks_);
  has_memory_ = true;
}

void TeamSetUp::fill_address(const Peers::AllocatePiece& bring) {
  address_.process = peers_.me_;
  address_.process.user = geteuid();
  if (address_.process.pid != static_cast<std::uint32_t>(getpid())) {
    throw FailureError(
        "this process was forked from one that uses huddle, and cannot use its context; create a "
        "new context after the fork");
  }
  const memory::Arena& arena = *peers_.arena_;
  address_.arena = arena.id();
  address_.cap_bytes = arena.cap_bytes();
  address_.descriptor = arena.descriptor();
  address_.owner = &peers_.arena_;
  address_.presence = peers_.presence_.enter();
  address_.piece = bring(*peers_.arena_);
}

// All ranks check the same addresses, so either all throw or none does.
void TeamSetUp::check_addresses() const {
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    if (on_two_machines(addresses_[0].process, addresses_[rank].process)) {
      throw FailureError(
          fmt::format("rank {} is on another machine than rank 0; a team needs shared memory, so "
                      "put only ranks of one machine into it",
                      rank));
    }
    if (addresses_[rank].process.user != addresses_[0].process.user) {
      throw FailureError(
          fmt::format("rank {} runs as user {}, but rank 0 as user {}; start all ranks as one user",
                      rank, addresses_[rank].process.user, addresses_[0].process.user));
    }
  }
}

// Opens the arenas of all ranks and exchanges the results in one allgather.
void TeamSetUp::reach_all() {
  const RankError rank_error = RankError::of([&] {
    for (std::size_t rank = 0; rank < ranks_; ++rank) reach(rank);
  });
  std::memcpy(report_.data(), &rank_error, sizeof rank_error);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    report_[sizeof rank_error + rank] = std::byte{reached_[rank] == nullptr};
  }
  bootstrap_.allgather(report_, reports_);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    if (trouble_of(rank).is_any()) throw_of(rank, trouble_of(rank));
  }
}

RankError TeamSetUp::trouble_of(std::size_t rank) const {
  RankError rank_error;
  std::memcpy(&rank_error, &reports_[rank * report_bytes()], sizeof rank_error);
  return rank_error;
}

bool TeamSetUp::anybody_needs_anything() const {
  for (std::size_t who = 0; who < ranks_; ++who) {
    for (std::size_t whose = 0; whose < ranks_; ++whose) {
      if (needs(who, whose)) return true;
    }
  }
  return false;
}

void TeamSetUp::reach(std::size_t rank) {
  const PeerAddress& address = addresses_[rank];
  reached_[rank] = peers_.find(address.arena);
  if (reached_[rank]) return;
  std::shared_ptr<Peer> peer;
  if (address.arena == address_.arena) {
    peer = std::make_shared<Peer>(peers_.arena_);
  } else if (is_same_process(address_.process, address.process)) {
    peer = std::make_shared<Peer>(*address.owner);
  } else if (peers_.route_ == DescriptorRoute::proc_first) {
    peer = open_peer(address_.process, address);
  }
  if (peer) reached_[rank] = peers_.keep(address.arena, std::move(peer));
}

// Exchanges the missing descriptors. Makes two allgathers: one of the socket names and one of the
// results.
void TeamSetUp::exchange() {
  std::optional<DescriptorSocket> socket;
  SocketName mine;
  mine.rank_error = RankError::of([&] { mine.name = socket.emplace().name(); });
  gather_to(std::span(socket_names_), bootstrap_, mine);
  throw_first(std::span<const SocketName>(socket_names_), &SocketName::rank_error);
  agree(errors_, bootstrap_, [&] { receive_needed(*socket); });
}

void TeamSetUp::receive_needed(const DescriptorSocket& socket) {
  std::vector<DescriptorSocket::Name> names;
  for (const SocketName& published : socket_names_) names.push_back(published.name);
  ExchangeTask task{bootstrap_.rank, peers_.arena_->descriptor(), addresses_, names, {}, {}};
  for (std::size_t other = 0; other < ranks_; ++other) {
    if (needs(other, rank_)) task.send_to.push_back(static_cast<int>(other));
    if (needs(rank_, other)) task.receive_from.push_back(static_cast<int>(other));
  }
  const auto keep = [&](int from, ReceivedDescriptors descriptors) {
    const PeerAddress& address = addresses_[static_cast<std::size_t>(from)];
    if (!memory::is_arena(descriptors.arena.number(), address.arena, address.cap_bytes)) {
      throw FailureError(fmt::format(
          "rank {} sent a file descriptor that is not its shared memory; it may have closed the "
          "descriptor",
          from));
    }
    reached_[static_cast<std::size_t>(from)] = peers_.keep(
        address.arena,
        std::make_shared<Peer>(descriptors.arena, std::move(descriptors.process), address));
  };
  exchange_descriptors(socket, std::move(task), Clock::now() + exchange_limit, keep);
}

}  // namespace huddle::team
