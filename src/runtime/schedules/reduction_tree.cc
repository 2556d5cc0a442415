// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules {

SliceReduction::Node SliceReduction::leaf(int rank) const {
  if (folding_.is_paired(rank)) return {0, rank};
  return {1, folding_.seat_of(rank)};
}

int SliceReduction::first_rank(const Node& node) const {
  if (node.height == 0) return node.number;
  return folding_.rank_at(node.number << (node.height - 1));
}

int SliceReduction::complete_after(int owner, const Node& node) const {
  const int first = first_rank(node);
  const int end = first_rank({node.height, node.number + 1});
  const bool owner_is_inside = first < owner && owner < end;
  const int last = owner_is_inside ? owner - 1 : end - 1;
  return (last - owner + ranks_) % ranks_;
}

Buffer SliceReduction::place(int owner, const Node& node) const {
  if (node.height == top()) return Buffer::output;
  if (node == leaf(owner)) return Buffer::input;
  const bool waits = complete_after(owner, node) < complete_after(owner, parent(node));
  return schedules::scratch(waits ? 1 + 2 * node.height + node.number % 2 : 0);
}

void SliceReduction::combine(int owner, int rank, Round& round) const {
  const int now = (rank - owner + ranks_) % ranks_;
  for (Node node = leaf(rank); node.height < top(); node = parent(node)) {
    if (complete_after(owner, parent(node)) != now) return;
    const Node left = {node.height, node.number & ~1};
    const Node right = {node.height, node.number | 1};
    round.combine(place(owner, left), place(owner, right), place(owner, parent(node)),
                  Blocks::interval(owner, 1));
  }
}

}  // namespace huddle::schedules
