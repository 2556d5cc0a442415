// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/joining.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "team/agree.h"

namespace huddle::team {
namespace {

// All ranks are in the exchange at once, so it takes as long as the slowest needs to get a
// processor.
constexpr std::chrono::seconds exchange_limit{30};

}  // namespace

Joining::Joining(Peers& peers, const Bootstrap& bootstrap)
    : peers_(peers),
      bootstrap_(bootstrap),
      rank_(static_cast<std::size_t>(bootstrap.rank)),
      ranks_(static_cast<std::size_t>(bootstrap.ranks)),
      reached_(ranks_),
      needs_(ranks_ * ranks_, 0) {}

Joining::~Joining() {
  if (is_done_) return;
  if (card_.presence.ticket != 0) peers_.presence_.leave(card_.presence);
  peers_.arena_->free(card_.piece);
}

std::unique_ptr<Members> Joining::run(const Peers::Bring& bring) {
  card_.trouble = Trouble::of([&] { fill_card(bring); });
  cards_ = gather(bootstrap_, card_);
  std::vector<Trouble> troubles;
  for (const Card& card : cards_) troubles.push_back(card.trouble);
  throw_first(troubles);
  check_cards();
  reach_all();
  if (std::find(needs_.begin(), needs_.end(), 1) != needs_.end()) exchange();
  std::vector<Member> members;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    members.push_back({std::move(reached_[rank]), cards_[rank].piece, cards_[rank].presence});
  }
  auto team = std::make_unique<Members>(peers_, bootstrap_.rank, std::move(members));
  is_done_ = true;
  return team;
}

void Joining::fill_card(const Peers::Bring& bring) {
  card_.process = peers_.me_;
  card_.process.user = geteuid();
  if (card_.process.pid != static_cast<std::uint32_t>(getpid())) {
    throw FailureError("this process was forked from one that had set up huddle; set it up anew");
  }
  const memory::Arena& arena = *peers_.arena_;
  card_.arena = arena.id();
  card_.cap_bytes = arena.cap_bytes();
  card_.descriptor = arena.descriptor();
  card_.owner = &peers_.arena_;
  card_.presence = peers_.presence_.enter();
  card_.piece = bring(*peers_.arena_);
}

// All look at the same cards, so all come to the same end.
void Joining::check_cards() const {
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    if (on_two_machines(cards_[0].process, cards_[rank].process)) {
      throw FailureError(
          fmt::format("rank {} is on another machine than rank 0: a team shares memory", rank));
    }
    if (cards_[rank].process.user != cards_[0].process.user) {
      throw FailureError(fmt::format("rank {} runs as user {} and rank 0 as user {}", rank,
                                     cards_[rank].process.user, cards_[0].process.user));
    }
  }
}

// One allgather, of the trouble and of one byte for each rank.
void Joining::reach_all() {
  const Trouble trouble = Trouble::of([&] {
    for (std::size_t rank = 0; rank < ranks_; ++rank) reach(rank);
  });
  std::vector<std::byte> mine(sizeof(Trouble) + ranks_);
  std::copy_n(reinterpret_cast<const std::byte*>(&trouble), sizeof trouble, mine.begin());
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    mine[sizeof trouble + rank] = std::byte{reached_[rank] == nullptr};
  }
  std::vector<std::byte> all(mine.size() * ranks_);
  bootstrap_.allgather(mine, all);
  std::vector<Trouble> troubles(ranks_);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
    std::copy_n(from, sizeof(Trouble), reinterpret_cast<std::byte*>(&troubles[rank]));
    std::transform(from + sizeof(Trouble), from + static_cast<std::ptrdiff_t>(mine.size()),
                   needs_.begin() + static_cast<std::ptrdiff_t>(rank * ranks_),
                   [](std::byte needed) { return static_cast<char>(needed); });
  }
  throw_first(troubles);
}

void Joining::reach(std::size_t rank) {
  const Card& card = cards_[rank];
  reached_[rank] = peers_.find(card.arena);
  if (reached_[rank]) return;
  std::shared_ptr<Peer> peer;
  if (card.arena == card_.arena) {
    peer = std::make_shared<Peer>(peers_.arena_);
  } else if (is_same_process(card_.process, card.process)) {
    peer = std::make_shared<Peer>(*card.owner);
  } else if (peers_.route_ == DescriptorRoute::proc_first) {
    peer = open_peer(card_.process, card);
  }
  if (peer) reached_[rank] = peers_.keep(card.arena, std::move(peer));
}

// Two more allgathers: to learn each other's sockets, and how it went.
void Joining::exchange() {
  struct Address {
    Trouble trouble;
    DescriptorSocket::Name name{};
  };
  std::optional<DescriptorSocket> door;
  Address mine;
  mine.trouble = Trouble::of([&] { mine.name = door.emplace().name(); });
  std::vector<DescriptorSocket::Name> names;
  std::vector<Trouble> troubles;
  for (const Address& address : gather(bootstrap_, mine)) {
    names.push_back(address.name);
    troubles.push_back(address.trouble);
  }
  throw_first(troubles);
  agree(bootstrap_, [&] { receive_needed(*door, names); });
}

void Joining::receive_needed(const DescriptorSocket& door,
                             const std::vector<DescriptorSocket::Name>& names) {
  ExchangeTask task{bootstrap_.rank, peers_.arena_->descriptor(), cards_, names, {}, {}};
  for (std::size_t other = 0; other < ranks_; ++other) {
    if (needs(other, rank_)) task.send_to.push_back(static_cast<int>(other));
    if (needs(rank_, other)) task.receive_from.push_back(static_cast<int>(other));
  }
  const auto keep = [&](int from, Parcel parcel) {
    const Card& card = cards_[static_cast<std::size_t>(from)];
    if (!memory::is_arena(parcel.arena.number(), card.arena, card.cap_bytes)) {
      throw FailureError(fmt::format("rank {} sent something else than its arena", from));
    }
    reached_[static_cast<std::size_t>(from)] = peers_.keep(
        card.arena, std::make_shared<Peer>(parcel.arena, std::move(parcel.process), card));
  };
  exchange_descriptors(door, std::move(task), Clock::now() + exchange_limit, keep);
}

}  // namespace huddle::team
