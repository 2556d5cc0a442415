// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// In which order a reduction between nodes puts their contributions together: ranks are folded
// (folding.h), pairs are joined first, then all seats by a balanced tree, lower ranks on the left.
// That is what recursive doubling computes; every schedule that keeps order computes the same bits.
// A prefix puts the left half of each part before what it has of the right half, so that the last
// rank's prefix of all has the bits of the whole.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/schedules/schedule.h"

namespace huddle::schedules {

// Any number of ranks for algorithms that want a power of two. Where there are r more, the first 2r
// ranks are folded in pairs: the second of a pair leaves its matter to the first, and gets the
// result from it. Those that stay have seats, numbered in the order of ranks.
class Folding {
 public:
  explicit Folding(int ranks)
      : ranks_(ranks), seats_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))) {}

  int seats() const { return seats_; }
  int doublings() const { return std::countr_zero(static_cast<unsigned>(seats_)); }
  int pairs() const { return ranks_ - seats_; }

  bool is_paired(int rank) const { return rank < 2 * pairs(); }
  bool is_out(int rank) const { return is_paired(rank) && rank % 2 != 0; }
  // pre: !is_out(rank)
  int seat_of(int rank) const { return is_paired(rank) ? rank / 2 : rank - pairs(); }
  // Who sits there; of seats(), one past the last rank. A seat stands for the ranks from there up
  // to, not including, the next seat's.
  int rank_at(int seat) const { return seat < pairs() ? 2 * seat : seat + pairs(); }

 private:
  int ranks_;
  int seats_;
};

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

// A reduction in slices, one for each rank, which joins it: it gets every other rank's contribution
// to its slice, one in a round, the next rank's first, round the circle. Each is joined as soon as
// the other half of what it belongs to in the association is there, so that few wait at any time:
// at each height of the tree at most one left and one right half.
class SliceJoin {
 public:
  explicit SliceJoin(int ranks) : ranks_(ranks), folding_(ranks) {}

  // Buffers of one block: for what is joined at once, and for what waits.
  Scratch scratch() const { return ranks_ == 1 ? Scratch{} : Scratch{1 + 2 * (top() + 1), 1}; }
  // Where the owner of a slice receives the contribution of another rank.
  Buffer place_of(int owner, int rank) const { return place(owner, leaf(rank)); }
  // What the owner joins when the contribution of `rank` is there; the last of all that makes the
  // result, which is put into the output.
  void join(int owner, int rank, Round& round) const;

 private:
  // A part of the association: a rank of a pair at height 0, a seat at height 1, two of them at 2.
  struct Node {
    int height;
    int number;  // from the left
    bool operator==(const Node&) const = default;
  };
  int top() const { return folding_.doublings() + 1; }
  Node leaf(int rank) const;
  static Node parent(const Node& node) { return {node.height + 1, node.number / 2}; }
  int first_rank(const Node& node) const;
  // How many ranks after the owner the last one of these is: the others have come before it.
  int complete_after(int owner, const Node& node) const;
  Buffer place(int owner, const Node& node) const;

  int ranks_;
  Folding folding_;
};

}  // namespace huddle::schedules
