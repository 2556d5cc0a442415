// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Manages the free parts of an arena. Works on offsets only and never touches the memory. There are
// two kinds of free parts: those whose pages are allocated (Backing::memory) and those whose pages
// are not (Backing::none).
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace huddle::memory {

// A part of an arena. Empty if `bytes` is 0.
struct Piece {
  std::size_t offset = 0;
  std::size_t bytes = 0;

  constexpr std::size_t end() const { return offset + bytes; }
  bool operator==(const Piece&) const = default;
};

// Requires: `unit` is a power of two.
constexpr std::size_t round_down(std::size_t value, std::size_t unit) {
  return value & ~(unit - 1);
}

// Returns the pages that lie completely in the part.
Piece whole_pages_of(Piece part);

class ArenaSpace {
 public:
  enum class Backing : std::size_t { none, memory };

  // Adds a free piece, merged with adjacent free parts of the same kind. Returns the merged part.
  // Requires: the piece overlaps no free part.
  Piece give(Backing backing, Piece piece);
  // Takes a piece from the smallest part that is large enough, or from a slightly larger one if
  // that avoids a long search. Returns nullopt if there is none.
  // Requires: bytes > 0; alignment is a power of two.
  std::optional<Piece> take(Backing backing, std::size_t bytes, std::size_t alignment);
  // Takes exactly this piece. Requires: it lies in one free part of that kind.
  void take_exactly(Backing backing, Piece piece);

  std::size_t free_bytes(Backing backing) const { return kind(backing).bytes; }
  // Returns the free part that begins at the offset; empty if there is none.
  Piece part_at(Backing backing, std::size_t offset) const;
  // Returns the free parts in ascending order of their offsets.
  std::vector<Piece> parts(Backing backing) const;

 private:
  // Indexes the same parts by offset, to merge neighbours, and by size, for best fit.
  struct Kind {
    std::map<std::size_t, std::size_t> bytes_at;
    std::set<std::pair<std::size_t, std::size_t>> by_size;
    std::size_t bytes = 0;

    void insert(Piece piece);
    void replace(Piece old, Piece piece) noexcept;
    void erase(Piece piece);
  };

  Kind& kind(Backing backing) { return kinds_[static_cast<std::size_t>(backing)]; }
  const Kind& kind(Backing backing) const { return kinds_[static_cast<std::size_t>(backing)]; }

  std::array<Kind, 2> kinds_;
};

}  // namespace huddle::memory
