// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/arena_space.h"

#include <iterator>
#include <utility>

#include "common/arithmetic.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

// After this many parts that are large enough but not aligned, the search continues with parts that
// are large enough wherever they begin, so that many small parts do not slow down allocations.
constexpr int most_tries = 64;

}  // namespace

Piece whole_pages_of(Piece part) {
  const std::size_t begin = round_up(part.offset, page_bytes());
  const std::size_t end = round_down(part.end(), page_bytes());
  return end > begin ? Piece{begin, end - begin} : Piece{};
}

// Has no effect if it throws std::bad_alloc.
void ArenaSpace::Kind::insert(Piece piece) {
  const auto at = bytes_at.emplace(piece.offset, piece.bytes).first;
  try {
    by_size.emplace(piece.bytes, piece.offset);
  } catch (...) {
    bytes_at.erase(at);
    throw;
  }
  bytes += piece.bytes;
}

// Reuses the nodes of the containers, so that it cannot fail.
void ArenaSpace::Kind::replace(Piece old, Piece piece) noexcept {
  auto at = bytes_at.extract(old.offset);
  at.key() = piece.offset;
  at.mapped() = piece.bytes;
  bytes_at.insert(std::move(at));
  auto sized = by_size.extract({old.bytes, old.offset});
  sized.value() = {piece.bytes, piece.offset};
  by_size.insert(std::move(sized));
  bytes = bytes - old.bytes + piece.bytes;
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
  if (before.bytes > 0 && after.bytes > 0) parts.erase(after);
  if (before.bytes > 0) {
    parts.replace(before, merged);
  } else if (after.bytes > 0) {
    parts.replace(after, merged);
  } else {
    parts.insert(merged);
  }
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
  const Piece whole{offset, bytes};
  const Piece before{offset, piece.offset - offset};
  const Piece after{piece.end(), whole.end() - piece.end()};
  if (before.bytes > 0 && after.bytes > 0)
    parts.insert(after);  // may throw; nothing has changed yet
  if (before.bytes > 0) {
    parts.replace(whole, before);
  } else if (after.bytes > 0) {
    parts.replace(whole, after);
  } else {
    parts.erase(whole);
  }
}

Piece ArenaSpace::part_at(Backing backing, std::size_t offset) const {
  const auto& parts = kind(backing).bytes_at;
  const auto at = parts.find(offset);
  return at == parts.end() ? Piece{} : Piece{at->first, at->second};
}

std::vector<Piece> ArenaSpace::parts(Backing backing) const {
  std::vector<Piece> list;
  for (const auto& [offset, bytes] : kind(backing).bytes_at) list.push_back({offset, bytes});
  return list;
}

}  // namespace huddle::memory
