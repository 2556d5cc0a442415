// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Pairwise: in round s rank r exchanges with the rank s - r, round the circle, which turns to it at
// the same time. What comes is put aside until what is there has been sent, so that blocks may be
// exchanged in place.
#include "runtime/schedules/alltoall.h"

namespace huddle::net {
namespace {

class Pairwise : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks(); }
  Scratch scratch(int) const override { return ranks() == 1 ? Scratch{} : Scratch{1, 1}; }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const int peer = at_distance(-rank, number);
    const Blocks block = Blocks::interval(peer, 1);
    if (peer == rank) {
      round.copy(Buffer::input, Buffer::output, block);
      return;
    }
    round.receive(peer, net::scratch(0), block);
    round.send(peer, Buffer::input, block);
    round.copy(net::scratch(0), Buffer::output, block);
  }
};

}  // namespace

std::unique_ptr<Schedule> alltoall_pairwise(const Call& call) {
  return std::make_unique<Pairwise>(call);
}

}  // namespace huddle::net
