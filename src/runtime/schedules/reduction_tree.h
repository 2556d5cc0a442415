// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Order in which a reduction between nodes combines contributions: ranks are folded (Folding),
// pairs are combined first, then all seats by a balanced tree, lower ranks on the left. Recursive
// doubling computes exactly this, and every schedule that keeps the order computes the same bits. A
// prefix is computed recursively: in the right half of a subtree it is the total of the left half,
// combined with the prefix within the right half. So the last rank's inclusive prefix equals the
// full reduction bit for bit.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/schedules/schedule.h"

namespace huddle::schedules {

// Maps any number of ranks to a power-of-two number of seats. If there are r more ranks than seats,
// the first 2r ranks are folded in pairs: the second rank of a pair sends its data to the first and
// receives the result from it. The remaining ranks have seats, numbered in rank order.
class Folding {
 public:
  explicit Folding(int ranks)
      : ranks_(ranks), seats_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))) {}

  int seats() const { return seats_; }
  int doublings() const { return std::countr_zero(static_cast<unsigned>(seats_)); }
  int pairs() const { return ranks_ - seats_; }

  bool is_paired(int rank) const { return rank < 2 * pairs(); }
  bool is_out(int rank) const { return is_paired(rank) && rank % 2 != 0; }
  // Requires: !is_out(rank).
  int seat_of(int rank) const { return is_paired(rank) ? rank / 2 : rank - pairs(); }
  // Returns the rank at a seat, or one past the last rank for seats(). A seat represents the ranks
  // from that one up to, but not including, the next seat's rank.
  int rank_at(int seat) const { return seat < pairs() ? 2 * seat : seat + pairs(); }

 private:
  int ranks_;
  int seats_;
};

// Combines the leaves of a subtree of the reduction order, which has 2^height seats.
template <typename Value, typename Leaf, typename Combine>
Value associated(const Folding& folding, int first_seat, int height, const Leaf& leaf,
                 const Combine& combine) {
  if (height == 0) {
    const int rank = folding.rank_at(first_seat);
    if (!folding.is_paired(rank)) return leaf(rank);
    return combine(leaf(rank), leaf(rank + 1));
  }
  const int half = 1 << (height - 1);
  Value left = associated<Value>(folding, first_seat, height - 1, leaf, combine);
  return combine(std::move(left),
                 associated<Value>(folding, first_seat + half, height - 1, leaf, combine));
}

// Combines the leaves of all `ranks` ranks in the reduction order.
template <typename Value, typename Leaf, typename Combine>
Value associated(int ranks, const Leaf& leaf, const Combine& combine) {
  const Folding folding(ranks);
  return associated<Value>(folding, 0, folding.doublings(), leaf, combine);
}

// Returns the prefixes of all ranks, inclusive or not; the first exclusive one is `nothing`.
template <typename Value, typename Leaf, typename Combine>
std::vector<Value> associated_prefixes(int ranks, bool inclusive, const Value& nothing,
                                       const Leaf& leaf, const Combine& combine) {
  const Folding folding(ranks);
  std::vector<Value> prefixes;
  for (int rank = 0; rank < ranks; ++rank) {
    const bool is_second = folding.is_out(rank);
    if (inclusive) prefixes.push_back(is_second ? combine(leaf(rank - 1), leaf(rank)) : leaf(rank));
    if (!inclusive) prefixes.push_back(is_second ? leaf(rank - 1) : nothing);
  }
  for (int height = 1; height <= folding.doublings(); ++height) {
    const int half = 1 << (height - 1);
    for (int seat = half; seat < folding.seats(); seat += 2 * half) {
      const Value left = associated<Value>(folding, seat - half, height - 1, leaf, combine);
      for (int rank = folding.rank_at(seat); rank < folding.rank_at(seat + half); ++rank) {
        Value& prefix = prefixes[static_cast<std::size_t>(rank)];
        prefix = prefix == nothing ? left : combine(left, prefix);
      }
    }
  }
  return prefixes;
}

// A reduction in slices: each rank reduces one slice. It receives the other ranks' contributions to
// its slice one per round, cyclically from the next rank on, and combines each as soon as the other
// half of its subtree in the reduction order is complete. Therefore few partial results are stored
// at the same time: at each height of the tree at most one left and one right half.
class SliceReduction {
 public:
  explicit SliceReduction(int ranks) : ranks_(ranks), folding_(ranks) {}

  // One-block buffers: one for a contribution that is combined immediately, others for partial
  // results.
  Scratch scratch() const { return ranks_ == 1 ? Scratch{} : Scratch{1 + 2 * (top() + 1), 1}; }
  // Returns the buffer in which the owner of a slice receives the contribution of `rank`.
  Buffer place_of(int owner, int rank) const { return place(owner, leaf(rank)); }
  // Adds the operations that the owner performs when the contribution of `rank` has arrived. The
  // last operation of all stores the result in the output.
  void combine(int owner, int rank, Round& round) const;

 private:
  // A subtree of the reduction order: at height 0 a rank of a pair, at 1 a seat, at 2 two seats.
  struct Node {
    int height;
    int number;  // from the left
    bool operator==(const Node&) const = default;
  };
  int top() const { return folding_.doublings() + 1; }
  Node leaf(int rank) const;
  static Node parent(const Node& node) { return {node.height + 1, node.number / 2}; }
  int first_rank(const Node& node) const;
  // Returns the distance from the owner to the rank whose contribution completes the node.
  int complete_after(int owner, const Node& node) const;
  Buffer place(int owner, const Node& node) const;

  int ranks_;
  Folding folding_;
};

}  // namespace huddle::schedules
