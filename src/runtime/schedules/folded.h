// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An allreduce among a power of two of seats, to which other ranks are folded: the second of a pair
// sends its contribution to the first before it, and gets the result after it.
#pragma once

#include "runtime/schedules/folding.h"
#include "runtime/schedules/schedule.h"

namespace huddle::net {

class FoldedAllreduce : public Schedule {
 public:
  explicit FoldedAllreduce(const Call& call) : Schedule(call), folding_(call.ranks) {}

  std::int64_t rounds() const final { return ranks() == 1 ? 1 : seat_rounds() + (folds() ? 2 : 0); }
  RankTraffic traffic(int rank) const final;
  Scratch scratch(int rank) const final;

 protected:
  void fill(int rank, std::int64_t number, Round& round) const final;

  const Folding& folding() const { return folding_; }

  // Rounds among the seats, whose contributions are in `own`: in the input, or joined in the
  // output.
  virtual std::int64_t seat_rounds() const = 0;
  virtual void fill_seat(int seat, std::int64_t number, Buffer own, Round& round) const = 0;
  virtual RankTraffic seat_traffic(int seat) const = 0;
  // Blocks that a seat has to receive apart from its own at one time.
  virtual std::int64_t seat_scratch() const = 0;

 private:
  bool folds() const { return folding_.pairs() > 0; }

  Folding folding_;
};

}  // namespace huddle::net
