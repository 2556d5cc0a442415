// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/protocols/model/run.h"

#include <algorithm>

namespace huddle::protocols::model {

CacheContents::CacheContents(const Figures& figures)
    : figures_(figures),
      pieces_(static_cast<std::size_t>(figures.ranks()) * 4),
      taken_in_(figures.caches().size()) {}

// Returns the piece that begins at `line`, or the first one after it. Cuts a piece that contains
// it.
CacheContents::Pieces::iterator CacheContents::cut(Pieces& pieces, std::int64_t line) {
  auto at = pieces.lower_bound(line);
  if (at == pieces.begin() || (at != pieces.end() && at->first == line)) return at;
  const auto before = std::prev(at);
  if (before->second.end <= line) return at;
  Piece behind = before->second;
  before->second.end = line;
  return pieces.emplace_hint(at, line, std::move(behind));
}

bool CacheContents::has(const Piece& piece, int cache) const {
  return std::any_of(piece.holders.begin(), piece.holders.end(),
                     [&](const Holder& holder) { return holder.cache == cache && is_in(holder); });
}

int CacheContents::own_cache_with(const Piece& piece, int rank) const {
  const auto& mine = figures_.caches_of(rank);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (has(piece, mine[i])) return static_cast<int>(i);
  }
  return -1;
}

int CacheContents::peer_with(const Piece& piece, int rank, bool nearest) const {
  int best = -1;
  for (const Holder& holder : piece.holders) {
    if (!is_in(holder)) continue;
    const auto& ranks = figures_.caches()[static_cast<std::size_t>(holder.cache)].ranks;
    // Skips caches that both ranks use; the private caches inside them represent the peers.
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) continue;
    const bool is_writers =
        piece.writer >= 0 && std::find(ranks.begin(), ranks.end(), piece.writer) != ranks.end();
    const int peer = is_writers ? piece.writer : ranks.front();
    if (best < 0) {
      best = peer;
      continue;
    }
    const double ns = figures_.way(peer, rank).line_ns;
    const double best_ns = figures_.way(best, rank).line_ns;
    if (nearest ? ns < best_ns : ns > best_ns) best = peer;
  }
  return best;
}

void CacheContents::keep_alone(std::int64_t first, Piece& piece, int rank) {
  const auto& mine = figures_.caches_of(rank);
  std::erase_if(piece.holders, [&](const Holder& holder) {
    return std::find(mine.begin(), mine.end(), holder.cache) == mine.end();
  });
  take_in(piece, rank, lines_bytes(first, piece));
}

void CacheContents::take_in(Piece& piece, int rank, std::uint64_t bytes) {
  for (const int cache : figures_.caches_of(rank)) {
    if (has(piece, cache)) continue;
    std::erase_if(piece.holders, [&](const Holder& holder) { return !is_in(holder); });
    std::uint64_t& taken = taken_in_[static_cast<std::size_t>(cache)];
    // A piece is evicted as a whole with its first line. A piece larger than the cache never stays
    // in it.
    piece.holders.push_back(
        {cache, taken + figures_.caches()[static_cast<std::size_t>(cache)].bytes});
    taken += bytes;
  }
}

void CacheContents::own(int rank, context::Address place, std::size_t bytes) {
  each(place, bytes, [&](std::size_t, std::int64_t first, Piece& piece) {
    note_written(piece, rank);
    keep_alone(first, piece, rank);
  });
}

}  // namespace huddle::protocols::model
