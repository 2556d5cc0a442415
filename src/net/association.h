// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// In which order a reduction between nodes puts their contributions together: ranks are folded
// (folding.h), pairs are joined first, then all seats by a balanced tree, lower ranks on the left.
// That is what recursive doubling computes; every schedule that keeps order computes the same bits.
#pragma once

#include <utility>

#include "net/folding.h"

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

}  // namespace huddle::net
