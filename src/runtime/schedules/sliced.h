// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A reduction in slices, one for each rank, which joins it: it gets every other rank's contribution
// to its slice, one in a round, the next rank's first, round the circle. Each is joined as soon as
// the other half of what it belongs to in the association is there, so that few wait at any time:
// at each height of the tree at most one left and one right half.
#pragma once

#include <cstdint>

#include "runtime/schedules/folding.h"
#include "runtime/schedules/schedule.h"

namespace huddle::net {

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

}  // namespace huddle::net
