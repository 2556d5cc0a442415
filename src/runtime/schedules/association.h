// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// In which order a reduction between nodes puts their contributions together: ranks are folded
// (folding.h), pairs are joined first, then all seats by a balanced tree, lower ranks on the left.
// That is what recursive doubling computes; every schedule that keeps order computes the same bits.
// A prefix puts the left half of each part before what it has of the right half, so that the last
// rank's prefix of all has the bits of the whole.
#pragma once

#include <utility>
#include <vector>

#include "runtime/schedules/folding.h"

namespace huddle::net {

// What a subtree of the association joins: of 2^height seats.
template <typename Value, typename Leaf, typename Join>
Value associated(const Folding& folding, int first_seat, int height, const Leaf& leaf,
                 const Join& join) {
  if (height == 0) {
    const int rank = folding.rank_at(first_seat);
    if (!folding.is_paired(rank)) return leaf(rank);
    return join(leaf(rank), leaf(rank + 1));
  }
  const int half = 1 << (height - 1);
  Value left = associated<Value>(folding, first_seat, height - 1, leaf, join);
  return join(std::move(left),
              associated<Value>(folding, first_seat + half, height - 1, leaf, join));
}

// The same of all `ranks`.
template <typename Value, typename Leaf, typename Join>
Value associated(int ranks, const Leaf& leaf, const Join& join) {
  const Folding folding(ranks);
  return associated<Value>(folding, 0, folding.doublings(), leaf, join);
}

// The prefix of every rank up to itself, or of all before it: then the first one's is `nothing`.
template <typename Value, typename Leaf, typename Join>
std::vector<Value> associated_prefixes(int ranks, bool inclusive, const Value& nothing,
                                       const Leaf& leaf, const Join& join) {
  const Folding folding(ranks);
  std::vector<Value> prefixes;
  for (int rank = 0; rank < ranks; ++rank) {
    const bool is_second = folding.is_out(rank);
    if (inclusive) prefixes.push_back(is_second ? join(leaf(rank - 1), leaf(rank)) : leaf(rank));
    if (!inclusive) prefixes.push_back(is_second ? leaf(rank - 1) : nothing);
  }
  for (int height = 1; height <= folding.doublings(); ++height) {
    const int half = 1 << (height - 1);
    for (int seat = half; seat < folding.seats(); seat += 2 * half) {
      const Value left = associated<Value>(folding, seat - half, height - 1, leaf, join);
      for (int rank = folding.rank_at(seat); rank < folding.rank_at(seat + half); ++rank) {
        Value& prefix = prefixes[static_cast<std::size_t>(rank)];
        prefix = prefix == nothing ? left : join(left, prefix);
      }
    }
  }
  return prefixes;
}

}  // namespace huddle::net
