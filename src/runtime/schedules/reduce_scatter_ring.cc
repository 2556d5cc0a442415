// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ring: each block travels once round to its rank, and everybody on the way joins its own
// contribution. The order of joins differs from block to block.
#include "runtime/schedules/reduce.h"

namespace huddle::net {
namespace {

class ReduceScatterRing : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : ranks() - 1; }
  std::int64_t like(std::int64_t) const override { return 0; }
  Scratch scratch(int) const override {
    if (ranks() == 1) return {};
    return {ranks() == 2 ? 1 : 2, 1};
  }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
      return;
    }
    const bool is_last = number == rounds() - 1;
    const Blocks coming = Blocks::interval(at_distance(rank, -(number + 2)), 1);
    const Blocks going = Blocks::interval(at_distance(rank, -(number + 1)), 1);
    round.receive(at_distance(rank, -1), net::scratch(0), coming);
    round.send(at_distance(rank, 1), number == 0 ? Buffer::input : net::scratch(1), going);
    round.join(net::scratch(0), Buffer::input, is_last ? Buffer::output : net::scratch(1), coming);
  }
};

}  // namespace

std::unique_ptr<Schedule> reduce_scatter_ring(const Call& call) {
  return std::make_unique<ReduceScatterRing>(call);
}

}  // namespace huddle::net
