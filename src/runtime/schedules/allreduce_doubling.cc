// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Recursive doubling: in round k seats that differ in bit k exchange what they have joined.
#include "runtime/schedules/allreduce.h"
#include "runtime/schedules/folded.h"

namespace huddle::net {
namespace {

class AllreduceDoubling : public FoldedAllreduce {
 public:
  using FoldedAllreduce::FoldedAllreduce;

  std::int64_t blocks() const override { return 1; }

 protected:
  std::int64_t seat_rounds() const override { return folding().doublings(); }
  std::int64_t seat_scratch() const override { return 1; }
  RankTraffic seat_traffic(int) const override {
    const std::int64_t rounds = seat_rounds();
    return {rounds, rounds, rounds, rounds, rounds};
  }

  void fill_seat(int seat, std::int64_t number, Buffer own, Round& round) const override {
    const int other = seat ^ (1 << number);
    const int peer = folding().rank_at(other);
    const Blocks all = Blocks::interval(0, 1);
    round.receive(peer, net::scratch(0), all);
    round.send(peer, own, all);
    if (other < seat) {
      round.join(net::scratch(0), own, Buffer::output, all);
    } else {
      round.join(own, net::scratch(0), Buffer::output, all);
    }
  }
};

}  // namespace

std::unique_ptr<Schedule> allreduce_doubling(const Call& call) {
  return std::make_unique<AllreduceDoubling>(call);
}

}  // namespace huddle::net
