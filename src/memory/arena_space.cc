// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "memory/arena_space.h"

#include <iterator>

namespace huddle::memory {
namespace {

// After so many parts that are large enough but not aligned, the search goes on among those that
// are so large that alignment does not matter: a long list of scraps must not make a team slow.
constexpr int most_tries = 64;

}  // namespace

void ArenaSpace::Kind::insert(Piece piece) {
  bytes_at.emplace(piece.offset, piece.bytes);
  by_size.emplace(piece.bytes, piece.offset);
  bytes += piece.bytes;
}

void ArenaSpace::Kind::erase(Piece piece) {
  bytes_at.erase(piece.offset);
  by_size.erase({piece.bytes, piece.offset});
  bytes -= piece.bytes;
}

Piece ArenaSpace::give(Backing backing, Piece piece) {
  Kind& parts = kind(backing);
  const auto next = parts.bytes_at.lower_bound(piece.offset);
  Piece merged = piece;
  if (next != parts.bytes_at.begin()) {
    const auto [offset, bytes] = *std::prev(next);
    if (offset + bytes == piece.offset) merged = {offset, bytes + piece.bytes};
  }
  const Piece before{merged.offset, merged.bytes - piece.bytes};
  const Piece after = next != parts.bytes_at.end() && next->first == piece.end()
                          ? Piece{next->first, next->second}
                          : Piece{};
  merged.bytes += after.bytes;
  if (before.bytes > 0) parts.erase(before);
  if (after.bytes > 0) parts.erase(after);
  parts.insert(merged);
  return merged;
}

std::optional<Piece> ArenaSpace::take(Backing backing, std::size_t bytes, std::size_t alignment) {
  const Kind& parts = kind(backing);
  auto at = parts.by_size.lower_bound({bytes, 0});
  for (int tries = 0; at != parts.by_size.end(); ++at, ++tries) {
    if (tries == most_tries) {
      at = parts.by_size.lower_bound({bytes + alignment, 0});
      if (at == parts.by_size.end()) break;
    }
    const auto [size, offset] = *at;
    const Piece piece{round_up(offset, alignment), bytes};
    if (piece.end() > offset + size) continue;
    take_exactly(backing, piece);
    return piece;
  }
  return std::nullopt;
}

void ArenaSpace::take_exactly(Backing backing, Piece piece) {
  Kind& parts = kind(backing);
  const auto [offset, bytes] = *std::prev(parts.bytes_at.upper_bound(piece.offset));
  parts.erase({offset, bytes});
  if (offset < piece.offset) parts.insert({offset, piece.offset - offset});
  if (piece.end() < offset + bytes) parts.insert({piece.end(), offset + bytes - piece.end()});
}

std::vector<Piece> ArenaSpace::parts(Backing backing) const {
  std::vector<Piece> list;
  for (const auto& [offset, bytes] : kind(backing).bytes_at) list.push_back({offset, bytes});
  return list;
}

}  // namespace huddle::memory
