// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Any number of ranks for algorithms that want a power of two. Where there are r more, the first 2r
// ranks are folded in pairs: the second of a pair leaves its matter to the first, and gets the
// result from it. Those that stay have seats, numbered in the order of ranks.
#pragma once

#include <bit>

namespace huddle::net {

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

}  // namespace huddle::net
