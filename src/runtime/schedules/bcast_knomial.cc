// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A k-nomial tree, binomial where k is 2: whoever has the data sends in each round to k - 1 others,
// the farthest first, so that those who have most to pass on come first.
#include <algorithm>

#include "runtime/schedules/bcast.h"
#include "runtime/schedules/knomial.h"

namespace huddle::net {
namespace {

class Knomial : public Schedule {
 public:
  explicit Knomial(const Call& call) : Schedule(call), tree_(call.ranks, call.radix) {}

  std::int64_t blocks() const override { return 1; }
  std::int64_t rounds() const override { return tree_.levels(); }
  RoundSpan active(int rank) const override { return {joins_in(from_root(rank)), rounds()}; }

  RankTraffic traffic(int rank) const override {
    const int at = from_root(rank);
    RankTraffic traffic;
    if (at != 0) traffic = {1, 0, 1, 0, 1};
    for (int level = 0; level < tree_.levels(); ++level) {
      const int children = tree_.children(at, level);
      if (children > 0) ++traffic.rounds;
      traffic.sends += children;
      traffic.blocks_sent += children;
    }
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const int at = from_root(rank);
    const int level = tree_.levels() - 1 - static_cast<int>(number);
    const Blocks all = Blocks::interval(0, 1);
    if (at != 0 && tree_.level_of(at) == level) {
      round.receive(at_distance(root(), tree_.parent(at)), Buffer::output, all);
    }
    for (int child = 1; child <= tree_.children(at, level); ++child) {
      round.send(at_distance(root(), tree_.child(at, level, child)), Buffer::output, all);
    }
  }

 private:
  int from_root(int rank) const { return at_distance(rank, -root()); }
  std::int64_t joins_in(int at) const {
    return at == 0 ? 0 : tree_.levels() - 1 - tree_.level_of(at);
  }

  KnomialTree tree_;
};

}  // namespace

std::unique_ptr<Schedule> bcast_knomial(const Call& call) {
  return std::make_unique<Knomial>(call);
}

}  // namespace huddle::net
