// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Joining contributions in the team's one order (association.h).
#pragma once

#include <cstddef>

#include "memory/reduction.h"
#include "node/association.h"
#include "world/world.h"

namespace huddle::node {

// How much is joined, and how.
struct Join {
  std::size_t count = 0;  // elements
  const memory::Reduction& reduction;

  std::size_t bytes() const { return count * reduction.element_bytes; }
};

// `to` = item(first) op ... op item(last - 1). item(i) returns a place once what lies there is
// ready; `to` is none of them but perhaps the first.
template <world::World W, class Item>
void fold_row(W& w, world::Place to, int first, int last, Item item, const Join& join) {
  world::Place left = item(first);
  for (int i = first + 1; i < last; ++i) {
    w.reduce(to, left, item(i), join.count, join.reduction);
    left = to;
  }
  // A row of one.
  if (left != to) w.copy(to, left, join.bytes(), memory::CopyKernel::plain);
}

// The same over all ranks, block by block. `spare` holds a block's result.
template <world::World W, class Item>
void fold_ranks(W& w, world::Place to, world::Place spare, const Association& association,
                Item item, const Join& join) {
  fold_row(w, to, association.first(0), association.first(1), item, join);
  for (int block = 1; block < association.blocks(); ++block) {
    const int first = association.first(block);
    const int last = association.first(block + 1);
    world::Place result = spare;
    if (last - first == 1) {
      result = item(first);
    } else {
      fold_row(w, spare, first, last, item, join);
    }
    w.reduce(to, to, result, join.count, join.reduction);
  }
}

}  // namespace huddle::node
