// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/knomial.h"

namespace huddle::schedules {

namespace {

// Gather and scatter by a k-nomial tree of places counted from the root, in which a subtree's
// blocks are consecutive. A gather begins with the nearest places, a scatter with the farthest.
class BlockTree : public Schedule {
 public:
  explicit BlockTree(const Call& call) : Schedule(call), tree_(call.ranks, call.radix) {}

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : tree_.levels(); }
  Scratch scratch(int rank) const override {
    const int at = from_root(rank);
    return is_between(at) ? Scratch{1, ranks()} : Scratch{};
  }

 protected:
  // Returns the traffic of a rank in a gather. In a scatter, sends and receives are swapped.
  RankTraffic traffic_of_gather(int rank) const {
    const int at = from_root(rank);
    RankTraffic traffic;
    for (int level = 0; level < tree_.levels(); ++level) {
      const int children = tree_.children(at, level);
      if (children > 0) ++traffic.rounds;
      traffic.receives += children;
      for (int child = 1; child <= children; ++child) {
        traffic.blocks_received += tree_.subtree(tree_.child(at, level, child), level);
      }
    }
    if (at == 0) return traffic;
    ++traffic.rounds;
    traffic.sends = 1;
    traffic.blocks_sent = tree_.subtree(at, tree_.level_of(at));
    return traffic;
  }

  const KnomialTree& tree() const { return tree_; }
  int from_root(int rank) const { return at_distance(rank, -root()); }
  int rank_at(int at) const { return at_distance(root(), at); }
  // Returns whether a place is neither the root nor a leaf, so that blocks of other ranks pass
  // through it.
  bool is_between(int at) const { return at != 0 && tree_.children(at, 0) > 0; }
  Blocks subtree(int at, int level) const {
    return Blocks::circular(rank_at(at), tree_.subtree(at, level), ranks());
  }
  static Blocks own(int rank) { return Blocks::interval(rank, 1); }

 private:
  KnomialTree tree_;
};

class Gather : public BlockTree {
 public:
  using BlockTree::BlockTree;
  RankTraffic traffic(int rank) const override { return traffic_of_gather(rank); }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const int at = from_root(rank);
    const int level = static_cast<int>(number);
    const Buffer gathered = at == 0 ? Buffer::output : schedules::scratch(0);
    if (number == 0 && (at == 0 || is_between(at))) {
      round.copy(Buffer::input, gathered, own(rank));
    }
    for (int child = 1; child <= tree().children(at, level); ++child) {
      const int place = tree().child(at, level, child);
      round.receive(rank_at(place), gathered, subtree(place, level));
    }
    if (at != 0 && tree().level_of(at) == level) {
      round.send(rank_at(tree().parent(at)), is_between(at) ? gathered : Buffer::input,
                 subtree(at, level));
    }
  }
};

class Scatter : public BlockTree {
 public:
  using BlockTree::BlockTree;
  RankTraffic traffic(int rank) const override {
    const RankTraffic gather = traffic_of_gather(rank);
    return {gather.rounds, gather.receives, gather.sends, gather.blocks_received,
            gather.blocks_sent};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const int at = from_root(rank);
    if (at == 0 && number == 0) round.copy(Buffer::input, Buffer::output, own(rank));
    if (ranks() == 1) return;
    const int level = tree().levels() - 1 - static_cast<int>(number);
    const Buffer source = at == 0 ? Buffer::input : schedules::scratch(0);
    if (at != 0 && tree().level_of(at) == level) {
      round.receive(rank_at(tree().parent(at)), is_between(at) ? source : Buffer::output,
                    subtree(at, level));
      if (is_between(at)) round.copy(source, Buffer::output, own(rank));
    }
    for (int child = 1; child <= tree().children(at, level); ++child) {
      const int place = tree().child(at, level, child);
      round.send(rank_at(place), source, subtree(place, level));
    }
  }
};

}  // namespace

std::unique_ptr<Schedule> gather_knomial(const Call& call) {
  return std::make_unique<Gather>(call);
}

std::unique_ptr<Schedule> scatter_knomial(const Call& call) {
  return std::make_unique<Scatter>(call);
}

}  // namespace huddle::schedules
