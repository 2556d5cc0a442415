// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/ground.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "base/error.h"

namespace huddle::team {
namespace {

// What a rank tells of the piece that it brings.
struct Offer {
  Trouble trouble;
  memory::Piece piece;
};

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

// Nothing may fail once there are members: the others count on this rank then.
Ground::Ground(Peers& peers, const Bootstrap& bootstrap, const Trouble& before)
    : peers_(peers),
      members_(join(bootstrap, before)),
      board_(sizeof(Offer), world::first_sequence),
      surroundings_{bootstrap.rank, bootstrap.ranks, board_memory_.data(), nullptr, nullptr},
      agreement_{bootstrap.rank, bootstrap.ranks,
                 [this](std::span<const std::byte> mine, std::span<std::byte> all) {
                   show_and_read(mine, all);
                 }} {
  for (int rank = 0; rank < ranks(); ++rank) {
    board_memory_[static_cast<std::size_t>(rank)] = members_->piece(rank);
  }
}

std::unique_ptr<Members> Ground::join(const Bootstrap& bootstrap, const Trouble& before) {
  const auto bring = [&](memory::Arena& arena) {
    if (before.is_any()) throw FailureError(std::string(before.text()));
    board_memory_.resize(static_cast<std::size_t>(bootstrap.ranks));
    return filled_piece(arena, board_bytes);
  };
  return peers_.join(bootstrap, std::cref(bring));  // by reference: a copy would take memory
}

void Ground::show_and_read(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (mine.size() > sizeof(Offer)) throw UsageError("the board has no room for such a notice");
  world::hardware::Hardware w(surroundings_, {mine.data(), all.data()});
  board_.run(w, mine.size());
}

std::vector<std::byte*> Ground::lay_out(const std::function<std::size_t()>& prepare) {
  Offer mine;
  std::vector<std::byte*> bases;
  mine.trouble = Trouble::of([&] {
    bases.resize(static_cast<std::size_t>(ranks()));
    mine.piece = filled_piece(peers_.arena(), prepare());
    members_->keep(mine.piece);
  });
  const std::vector<Offer> offers = gather(agreement_, mine);
  const auto has_trouble = [](const Offer& offer) { return offer.trouble.is_any(); };
  // All see the same, so nobody uses any of these pieces.
  if (std::any_of(offers.begin(), offers.end(), has_trouble)) members_->give_back(mine.piece);
  throw_first(std::span<const Offer>(offers), &Offer::trouble);
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    bases[rank] = members_->arena_base(static_cast<int>(rank)) + offers[rank].piece.offset;
  }
  return bases;
}

}  // namespace huddle::team
