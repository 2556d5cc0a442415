// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Spread: in each round everybody sends to the rank so many further on, one further in the next.
#include "runtime/schedules/alltoall.h"

namespace huddle::net {
namespace {

class Spread : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : ranks() - 1; }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number == 0) round.copy(Buffer::input, Buffer::output, Blocks::interval(rank, 1));
    if (ranks() == 1) return;
    const int before = at_distance(rank, -(number + 1));
    const int after = at_distance(rank, number + 1);
    round.receive(before, Buffer::output, Blocks::interval(before, 1));
    round.send(after, Buffer::input, Blocks::interval(after, 1));
  }
};

}  // namespace

std::unique_ptr<Schedule> alltoall_spread(const Call& call) {
  return std::make_unique<Spread>(call);
}

}  // namespace huddle::net
