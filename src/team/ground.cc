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

std::vector<std::byte*> pieces_of(const Members& members) {
  std::vector<std::byte*> pieces;
  for (int rank = 0; rank < members.ranks(); ++rank) pieces.push_back(members.piece(rank));
  return pieces;
}

// Flags begin at the first sequence number.
memory::Piece filled_piece(memory::Arena& arena, std::size_t bytes) {
  // Whole pages where it is much: they are placed near this rank, and only its own are there.
  const std::size_t alignment =
      bytes < node::page_bytes ? memory::Arena::least_alignment : node::page_bytes;
  const memory::Piece piece = arena.allocate(std::max(bytes, alignment), alignment);
  constexpr world::Sequence value = world::first_sequence;
  for (std::size_t at = 0; at + sizeof value <= piece.bytes; at += sizeof value) {
    std::memcpy(arena.data(piece) + at, &value, sizeof value);
  }
  return piece;
}

const std::size_t board_bytes = node::NoticeBoard::shared_bytes(sizeof(Offer));

}  // namespace

Ground::Ground(Peers& peers, const Bootstrap& bootstrap)
    : peers_(peers),
      members_(peers.join(bootstrap,
                          [](memory::Arena& arena) { return filled_piece(arena, board_bytes); })),
      board_memory_(pieces_of(*members_)),
      board_(sizeof(Offer), world::first_sequence),
      surroundings_{bootstrap.rank, bootstrap.ranks, board_memory_.data(), nullptr, nullptr},
      agreement_{bootstrap.rank, bootstrap.ranks,
                 [this](std::span<const std::byte> mine, std::span<std::byte> all) {
                   show_and_read(mine, all);
                 }} {}

void Ground::show_and_read(std::span<const std::byte> mine, std::span<std::byte> all) {
  world::hardware::Hardware w(surroundings_, {mine.data(), all.data()});
  board_.run(w, mine.size());
}

std::vector<std::byte*> Ground::lay_out(const std::function<std::size_t()>& prepare) {
  Offer mine;
  mine.trouble = Trouble::of([&] {
    mine.piece = filled_piece(peers_.arena(), prepare());
    members_->keep(mine.piece);
  });
  const std::vector<Offer> offers = gather(agreement_, mine);
  std::vector<Trouble> troubles;
  std::vector<std::byte*> bases;
  for (int rank = 0; rank < ranks(); ++rank) {
    const Offer& offer = offers[static_cast<std::size_t>(rank)];
    troubles.push_back(offer.trouble);
    bases.push_back(members_->arena_base(rank) + offer.piece.offset);
  }
  if (std::any_of(troubles.begin(), troubles.end(), [](const auto& one) { return one.is_any(); })) {
    // All see the same, so nobody uses any of these pieces.
    members_->give_back(mine.piece);
  }
  throw_first(troubles);
  return bases;
}

}  // namespace huddle::team
