// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <optional>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/knomial.h"

namespace huddle::schedules {

namespace {

// A k-nomial tree, binomial for k = 2: in each round every rank that has the data sends it to k - 1
// others, the farthest first, because these have the largest subtrees.
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

namespace {

// A pipelined chain: each rank forwards a segment while it receives the next one.
class Chain : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return call().segments; }
  std::int64_t rounds() const override { return ranks() == 1 ? 0 : links() + blocks() - 1; }
  RoundSpan active(int rank) const override {
    const std::int64_t at = from_root(rank);
    if (ranks() == 1) return {0, 0};
    return {std::max<std::int64_t>(at - 1, 0), std::min(at + blocks(), rounds())};
  }
  // Once all links are busy, they remain busy until the root has sent its last segment.
  std::int64_t like(std::int64_t number) const override {
    return number < blocks() ? std::min(number, links() - 1) : number;
  }

  RankTraffic traffic(int rank) const override {
    const std::int64_t at = from_root(rank);
    if (ranks() == 1) return {};
    const std::int64_t received = at == 0 ? 0 : blocks();
    const std::int64_t sent = at == links() ? 0 : blocks();
    return {blocks() + (received > 0 && sent > 0 ? 1 : 0), sent, received, sent, received};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const std::int64_t at = from_root(rank);
    const std::int64_t coming = number - (at - 1);
    const std::int64_t going = number - at;
    if (at > 0 && has(coming)) {
      round.receive(at_distance(rank, -1), Buffer::output, Blocks::interval(coming, 1));
    }
    if (at < links() && has(going)) {
      round.send(at_distance(rank, 1), Buffer::output, Blocks::interval(going, 1));
    }
  }

 private:
  std::int64_t links() const { return ranks() - 1; }
  std::int64_t from_root(int rank) const { return at_distance(rank, -root()); }
  bool has(std::int64_t segment) const { return segment >= 0 && segment < blocks(); }
};

}  // namespace

std::unique_ptr<Schedule> bcast_chain(const Call& call) { return std::make_unique<Chain>(call); }

namespace {

// For large data: a binomial tree scatters one block per rank, and a ring gathers them (van de
// Geijn and others). A rank that has forwarded blocks in the tree does not receive them again from
// the ring, and the root receives nothing.
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

  // Returns the number of blocks that a place receives from the tree: those of its subtree.
  std::int64_t scattered(int at, int level) const { return tree_.subtree(at, level); }
  std::int64_t kept(int at) const { return scattered(at, tree_.level_of(at)); }
  // Returns the number of rounds in which a place receives a block from the ring. In later rounds
  // it would receive blocks that it already has.
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

namespace {

// A range of places. If their number is odd, the first half has one more than the second.
struct Places {
  std::int64_t first;
  std::int64_t count;

  Places first_half() const { return {first, (count + 1) / 2}; }
  Places second_half() const { return {first + (count + 1) / 2, count / 2}; }
  Places half_with(std::int64_t at) const {
    return at < second_half().first ? first_half() : second_half();
  }
  Places half_without(std::int64_t at) const {
    return at < second_half().first ? second_half() : first_half();
  }
  Blocks blocks() const { return Blocks::interval(first, count); }

  // Returns the place of the other half that `at` exchanges with.
  std::optional<std::int64_t> partner(std::int64_t at) const {
    const std::int64_t apart = count / 2;
    if (at >= second_half().first) return at - apart;
    if (count % 2 != 0 && at == first) return std::nullopt;
    return at + apart;
  }
};

// For large data: a binomial tree scatters one block per rank, and recursive doubling gathers them
// (van de Geijn and others), for any number of ranks. Places, counted from the root, are halved
// recursively. On the way down, the first place of a range sends the second half to the first place
// of that half; on the way up, every place of one half exchanges the blocks of the halves with a
// place of the other. The first place of the range has all blocks already: it only sends, and if
// the first half has one more place, it has no partner.
class ScatterDoubling : public Schedule {
 public:
  explicit ScatterDoubling(const Call& call) : Schedule(call) {
    for (std::int64_t reached = 1; reached < ranks(); reached *= 2) ++halvings_;
  }

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return 2 * halvings_; }

  RankTraffic traffic(int rank) const override {
    const std::int64_t at = from_root(rank);
    RankTraffic traffic;
    for (std::int64_t times = 0; times < halvings_; ++times) {
      const Places places = halved(at, times);
      const Places second = places.second_half();
      if (second.count == 0) break;
      if (at == places.first || at == second.first) {
        ++traffic.rounds;
        count(at == places.first, second, traffic.sends, traffic.blocks_sent);
        count(at == second.first, second, traffic.receives, traffic.blocks_received);
      }
      if (const auto partner = places.partner(at)) {
        ++traffic.rounds;
        count(*partner != places.first, places.half_with(at), traffic.sends, traffic.blocks_sent);
        count(at != places.first, places.half_without(at), traffic.receives,
              traffic.blocks_received);
      }
    }
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const std::int64_t at = from_root(rank);
    const bool scatters = number < halvings_;
    const Places places = halved(at, scatters ? number : rounds() - 1 - number);
    if (places.count == 1) return;
    if (scatters) {
      scatter(at, places, round);
    } else {
      gather(at, places, round);
    }
  }

 private:
  int from_root(int rank) const { return at_distance(rank, -root()); }
  int rank_at(std::int64_t at) const { return at_distance(root(), at); }

  // Returns the range that contains a place after `times` halvings.
  Places halved(std::int64_t at, std::int64_t times) const {
    Places places = {0, ranks()};
    for (std::int64_t i = 0; i < times; ++i) places = places.half_with(at);
    return places;
  }

  static void count(bool happens, const Places& places, std::int64_t& messages,
                    std::int64_t& blocks) {
    if (!happens) return;
    ++messages;
    blocks += places.count;
  }

  void scatter(std::int64_t at, const Places& places, Round& round) const {
    const Places second = places.second_half();
    if (at == places.first) round.send(rank_at(second.first), Buffer::output, second.blocks());
    if (at == second.first) round.receive(rank_at(places.first), Buffer::output, second.blocks());
  }

  void gather(std::int64_t at, const Places& places, Round& round) const {
    const auto partner = places.partner(at);
    if (!partner) return;
    const int peer = rank_at(*partner);
    if (at != places.first) {
      round.receive(peer, Buffer::output, places.half_without(at).blocks());
    }
    if (*partner != places.first) {
      round.send(peer, Buffer::output, places.half_with(at).blocks());
    }
  }

  std::int64_t halvings_ = 0;
};

}  // namespace

std::unique_ptr<Schedule> bcast_scatter_doubling(const Call& call) {
  return std::make_unique<ScatterDoubling>(call);
}

}  // namespace huddle::schedules
