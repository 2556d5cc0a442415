// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// For large data: a binomial tree scatters a block for each rank, and a ring gathers them (van de
// Geijn and others). Whoever has passed blocks on in the tree has them already: the ring leaves
// them out, and the root gets nothing.
#include <algorithm>

#include "runtime/schedules/bcast.h"
#include "runtime/schedules/knomial.h"

namespace huddle::net {
namespace {

class ScatterRing : public Schedule {
 public:
  explicit ScatterRing(const Call& call) : Schedule(call), tree_(call.ranks, 2) {}

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return tree_.levels() + ranks() - 1; }

  RankTraffic traffic(int rank) const override {
    const int at = from_root(rank);
    RankTraffic traffic;
    for (int level = 0; level < tree_.levels(); ++level) {
      if (tree_.children(at, level) == 0) continue;
      ++traffic.rounds;
      ++traffic.sends;
      traffic.blocks_sent += scattered(tree_.child(at, level, 1), level);
    }
    if (at != 0) {
      ++traffic.rounds;
      ++traffic.receives;
      traffic.blocks_received += kept(at);
    }
    const std::int64_t received = ring_rounds(at);
    const std::int64_t sent = ring_rounds(next(at));
    traffic.rounds += std::max(received, sent);
    traffic.sends += sent;
    traffic.blocks_sent += sent;
    traffic.receives += received;
    traffic.blocks_received += received;
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number < tree_.levels()) {
      scatter(from_root(rank), tree_.levels() - 1 - static_cast<int>(number), round);
    } else {
      pass_on(from_root(rank), number - tree_.levels(), round);
    }
  }

 private:
  int from_root(int rank) const { return at_distance(rank, -root()); }
  int next(int at) const { return at_distance(at, 1); }
  int rank_at(std::int64_t at) const { return at_distance(root(), at); }

  // Blocks that the tree brings to a place: its subtree's.
  std::int64_t scattered(int at, int level) const { return tree_.subtree(at, level); }
  std::int64_t kept(int at) const { return scattered(at, tree_.level_of(at)); }
  // In how many rounds of the ring a place gets a block: the last ones would bring what it has.
  std::int64_t ring_rounds(int at) const { return ranks() - kept(at); }

  void scatter(int at, int level, Round& round) const {
    if (at != 0 && tree_.level_of(at) == level) {
      round.receive(rank_at(tree_.parent(at)), Buffer::output,
                    Blocks::interval(at, scattered(at, level)));
    }
    if (tree_.children(at, level) > 0) {
      const int child = tree_.child(at, level, 1);
      round.send(rank_at(child), Buffer::output, Blocks::interval(child, scattered(child, level)));
    }
  }

  void pass_on(int at, std::int64_t step, Round& round) const {
    const auto block = [this](std::int64_t number) { return Blocks::circular(number, 1, ranks()); };
    if (step < ring_rounds(at)) {
      round.receive(rank_at(at - 1), Buffer::output, block(at - 1 - step));
    }
    if (step < ring_rounds(next(at))) {
      round.send(rank_at(at + 1), Buffer::output, block(at - step));
    }
  }

  KnomialTree tree_;
};

}  // namespace

std::unique_ptr<Schedule> bcast_scatter_ring(const Call& call) {
  return std::make_unique<ScatterRing>(call);
}

}  // namespace huddle::net
