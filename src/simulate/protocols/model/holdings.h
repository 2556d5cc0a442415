// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who has which lines of the ranks' data, in ranges and never line by line, and nothing of what is
// in them. Caches are finite: what came in first goes first, and a range leaves each cache by
// itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/context/address.h"
#include "simulate/protocols/model/figures.h"

namespace huddle::predict::model {

class Holdings {
 public:
  static constexpr std::size_t line_bytes = 64;

  explicit Holdings(const Figures& figures);

  // So much of what was asked about is found there.
  struct Found {
    std::size_t bytes = 0;
    Side side;
  };
  // Lines that a rank gets that another one wrote: `count(writer, lines)`.
  // Both add what they find to `found`, in order, whole places even where lines are shared.
  template <class Count>
  void read(int rank, world::Address place, std::size_t bytes, std::vector<Found>& found,
            Count count);
  // past: by stores past the caches.
  template <class Count>
  void write(int rank, world::Address place, std::size_t bytes, bool past, bool by_pages,
             std::vector<Found>& found, Count count);
  // From now on they are this rank's alone, as if it had just written them.
  void own(int rank, world::Address place, std::size_t bytes);

 private:
  struct Holder {
    int cache = 0;
    std::uint64_t until = 0;  // it goes when the cache has taken in so much
  };
  struct Piece {
    std::int64_t end = 0;  // line
    int writer = -1;
    std::vector<std::uint64_t> readers;  // ranks that have had it since it was written
    std::vector<Holder> holders;
  };
  using Pieces =
      std::map<std::int64_t, Piece>;  // by first line, without gaps where they were asked

  Pieces& pieces_of(world::Address place) {
    return pieces_[static_cast<std::size_t>(place.owner) * 4 +
                   static_cast<std::size_t>(place.region)];
  }
  // `visit(bytes, piece)` for all pieces of the place, cut at its ends.
  template <class Visit>
  void each(world::Address place, std::size_t bytes, Visit visit);
  static Pieces::iterator cut(Pieces& pieces, std::int64_t line);

  bool is_in(const Holder& holder) const {
    return holder.until > taken_in_[static_cast<std::size_t>(holder.cache)];
  }
  bool has(const Piece& piece, int cache) const;
  // How far out in a rank's own caches; -1: in none of them.
  int own_cache_with(const Piece& piece, int rank) const;
  // Whether another rank wrote it, has it nearer than any cache that both use, and this one has not
  // had it since.
  bool is_still_with_writer(const Piece& piece, int rank) const {
    if (piece.writer < 0 || piece.writer == rank || has_had(piece, rank)) return false;
    const auto& theirs = figures_.caches_of(piece.writer);
    return !theirs.empty() && has(piece, theirs.front());
  }
  // Of those that have it in caches that are not the rank's own: the nearest or the farthest; -1:
  // none does.
  int peer_with(const Piece& piece, int rank, bool nearest) const;
  void take_in(Piece& piece, int rank, std::uint64_t bytes);
  bool has_had(const Piece& piece, int rank) const {
    const auto i = static_cast<std::size_t>(rank);
    return i / 64 < piece.readers.size() && (piece.readers[i / 64] >> (i % 64) & 1U) != 0;
  }
  void note(Piece& piece, int rank) const {
    const auto i = static_cast<std::size_t>(rank);
    if (piece.readers.empty()) {
      piece.readers.resize((static_cast<std::size_t>(figures_.ranks()) + 63) / 64);
    }
    piece.readers[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  void note_written(Piece& piece, int rank) const {
    piece.writer = rank;
    piece.readers.clear();
    note(piece, rank);
  }
  // In this rank's caches, and in no others. pre: it has written it.
  void keep_alone(std::int64_t first, Piece& piece, int rank);
  static std::size_t lines_bytes(std::int64_t first, const Piece& piece) {
    return static_cast<std::size_t>(piece.end - first) * line_bytes;
  }

  const Figures& figures_;
  std::vector<Pieces> pieces_;           // by owner, then by region
  std::vector<std::uint64_t> taken_in_;  // by cache: bytes so far
};

template <class Visit>
void Holdings::each(world::Address place, std::size_t bytes, Visit visit) {
  if (bytes == 0) return;
  constexpr auto line_size = static_cast<std::int64_t>(line_bytes);
  const auto line = [](std::int64_t at) {
    return (at >= 0 ? at : at - (line_size - 1)) / line_size;
  };
  const auto first_byte = static_cast<std::int64_t>(place.offset);
  const auto end_byte = first_byte + static_cast<std::int64_t>(bytes);
  const std::int64_t first = line(first_byte);
  const std::int64_t end = line(end_byte - 1) + 1;
  Pieces& pieces = pieces_of(place);
  auto at = cut(pieces, first);
  std::int64_t next = first;
  while (next < end) {
    if (at == pieces.end() || at->first > next) {
      const std::int64_t stop = at == pieces.end() ? end : std::min(end, at->first);
      at = pieces.emplace_hint(at, next, Piece{stop, -1, {}, {}});
    } else if (at->second.end > end) {
      cut(pieces, end);
    }
    const std::int64_t stop = at->second.end;
    const std::int64_t from = std::max(first_byte, next * line_size);
    const std::int64_t to = std::min(end_byte, stop * line_size);
    visit(static_cast<std::size_t>(to - from), at->first, at->second);
    next = stop;
    ++at;
  }
}

template <class Count>
void Holdings::read(int rank, world::Address place, std::size_t bytes, std::vector<Found>& found,
                    Count count) {
  each(place, bytes, [&](std::size_t n, std::int64_t first, Piece& piece) {
    const int own = own_cache_with(piece, rank);
    Side side{Side::Where::own_cache, own, {}};
    if (is_still_with_writer(piece, rank)) {
      side = {Side::Where::peer_cache, piece.writer, machine::HandoffKind::read_dirty};
    } else if (own < 0) {
      const int peer = peer_with(piece, rank, true);
      side = peer >= 0 ? Side{Side::Where::peer_cache, peer, machine::HandoffKind::read_dirty}
                       : Side{Side::Where::memory, place.owner, {}};
    }
    if (!has_had(piece, rank)) {
      if (piece.writer >= 0) {
        count(piece.writer, static_cast<std::size_t>(piece.end - first));
      }
      note(piece, rank);
    }
    take_in(piece, rank, lines_bytes(first, piece));
    found.push_back({n, side});
  });
}

template <class Count>
void Holdings::write(int rank, world::Address place, std::size_t bytes, bool past, bool by_pages,
                     std::vector<Found>& found, Count count) {
  using machine::HandoffKind;
  each(place, bytes, [&](std::size_t n, std::int64_t first, Piece& piece) {
    const int own = own_cache_with(piece, rank);
    const int peer = peer_with(piece, rank, false);
    Side side{Side::Where::memory, place.owner, {}};
    if (peer >= 0) {
      HandoffKind manner = HandoffKind::write_cached;
      if (piece.writer != rank && own >= 0) manner = HandoffKind::write_ping_pong;
      if (piece.writer == peer && own < 0) manner = HandoffKind::write_reader_owned;
      if (by_pages) manner = HandoffKind::write_interleaved;
      if (past) manner = HandoffKind::write_cached_nontemporal;
      side = {Side::Where::peer_cache, peer, manner};
    } else if (own >= 0 && !past) {
      side = {Side::Where::own_cache, own, {}};
    }
    if (!has_had(piece, rank) && piece.writer >= 0) {
      count(piece.writer, static_cast<std::size_t>(piece.end - first));
    }
    note_written(piece, rank);
    if (past) {
      piece.holders.clear();
    } else {
      keep_alone(first, piece, rank);
    }
    found.push_back({n, side});
  });
}

}  // namespace huddle::predict::model
