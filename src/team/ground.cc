// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/ground.h"

#include <algorithm>
#include <cstring>

#include "team/agree.h"

namespace huddle::team {
namespace {

// What a rank tells of the piece that it brings.
struct Offer {
  Trouble trouble;
  memory::Piece piece;
};

// Pieces come zeroed from the meeting of a team.
constexpr world::Sequence board_start = 0;

std::vector<std::byte*> pieces_of(const Members& members) {
  std::vector<std::byte*> pieces;
  for (int rank = 0; rank < members.ranks(); ++rank) pieces.push_back(members.piece(rank));
  return pieces;
}

void fill(std::byte* data, std::size_t bytes, world::Sequence value) {
  for (std::size_t at = 0; at + sizeof value <= bytes; at += sizeof value) {
    std::memcpy(data + at, &value, sizeof value);
  }
}

}  // namespace

Ground::Ground(Peers& peers, const Bootstrap& bootstrap)
    : peers_(peers),
      members_(peers.join(bootstrap, node::NoticeBoard::shared_bytes(sizeof(Offer)))),
      board_memory_(pieces_of(*members_)),
      board_(sizeof(Offer), board_start),
      surroundings_{bootstrap.rank, bootstrap.ranks, board_memory_.data(), nullptr, nullptr},
      agreement_{bootstrap.rank, bootstrap.ranks,
                 [this](std::span<const std::byte> mine, std::span<std::byte> all) {
                   show_and_read(mine, all);
                 }} {}

void Ground::show_and_read(std::span<const std::byte> mine, std::span<std::byte> all) {
  world::hardware::Hardware w(surroundings_, {mine.data(), all.data()});
  board_.run(w, mine.size());
}

std::vector<std::byte*> Ground::lay_out(std::size_t bytes) {
  Offer mine;
  mine.trouble = Trouble::of([&] {
    // Whole pages where it is much: they are placed near this rank, and only its own are there.
    const std::size_t alignment =
        bytes < node::page_bytes ? memory::Arena::least_alignment : node::page_bytes;
    mine.piece = peers_.arena().allocate(std::max(bytes, alignment), alignment);
    members_->keep(mine.piece);
    fill(peers_.arena().data(mine.piece), mine.piece.bytes, world::first_sequence);
  });
  const std::vector<Offer> offers = gather(agreement_, mine);
  std::vector<Trouble> troubles;
  std::vector<std::byte*> bases;
  for (int rank = 0; rank < ranks(); ++rank) {
    const Offer& offer = offers[static_cast<std::size_t>(rank)];
    troubles.push_back(offer.trouble);
    bases.push_back(members_->arena_base(rank) + offer.piece.offset);
  }
  throw_first(troubles);
  return bases;
}

}  // namespace huddle::team
