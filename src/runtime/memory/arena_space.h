// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which parts of an arena are free: arithmetic on offsets only, the memory itself is never touched.
// Free parts are of two kinds, those that have memory behind them and those that have none yet.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace huddle::memory {

// A part of an arena. Nothing where it has no bytes.
struct Piece {
  std::size_t offset = 0;
  std::size_t bytes = 0;

  constexpr std::size_t end() const { return offset + bytes; }
  bool operator==(const Piece&) const = default;
};

// `unit` is a power of two.
constexpr std::size_t round_down(std::size_t value, std::size_t unit) {
  return value & ~(unit - 1);
}

// The pages that lie wholly in it.
Piece whole_pages_of(Piece part);

class ArenaSpace {
 public:
  enum class Backing : std::size_t { none, memory };

  // Free parts that touch become one, if they are of the same kind. pre: touches no free part.
  // Returns the free part that the piece is now in.
  Piece give(Backing backing, Piece piece);
  // The smallest part that is large enough, or nearly the smallest where that spares a long search;
  // nothing where there is none. pre: bytes > 0; alignment is a power of two.
  std::optional<Piece> take(Backing backing, std::size_t bytes, std::size_t alignment);
  // Takes exactly this. pre: it lies inside one free part of that kind.
  void take_exactly(Backing backing, Piece piece);

  std::size_t free_bytes(Backing backing) const { return kind(backing).bytes; }
  // The free part that begins there; nothing where none does.
  Piece part_at(Backing backing, std::size_t offset) const;
  // In the order of their offsets.
  std::vector<Piece> parts(Backing backing) const;

 private:
  // The same parts twice: by offset, to merge neighbours, and by size, to find one that fits.
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
