// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/mapping/bisect.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "common/arithmetic.h"
#include "placement/mapping/random.h"

namespace huddle::mapping {
namespace {

constexpr int alone = -1;
// Graphs of at most this size are cut without coarsening.
constexpr int small_enough = 24;

// Heavy-edge matching: pairs each vertex with the free neighbour with which it exchanges the most
// bytes. Visits the vertices in random order, so that repeated runs differ. A merged vertex above
// most_weight would make balanced cuts impossible.
std::vector<int> matching(const Level& level, int most_weight, Random& random) {
  const Graph& graph = level.graph();
  std::vector<int> order(at(graph.size()));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  std::vector<int> mate(order.size(), alone);
  for (const int v : order) {
    if (mate[at(v)] != alone) continue;
    const Graph::Row row = graph.row(v);
    int best = alone;
    double best_bytes = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (mate[at(other)] != alone || level.fixed(other) != level.fixed(v)) continue;
      const int weight = level.weight(v) + level.weight(other);
      if (weight > most_weight) continue;
      // Ties go to the lightest vertex, to keep the weights similar.
      const bool better =
          row.bytes[i] > best_bytes ||
          (row.bytes[i] == best_bytes && best != alone && level.weight(other) < level.weight(best));
      if (!better) continue;
      best = other;
      best_bytes = row.bytes[i];
    }
    mate[at(v)] = best == alone ? v : best;
    if (best != alone) mate[at(best)] = v;
  }
  return mate;
}

// Returns for each vertex the merged vertex that contains it, numbered from 0.
std::vector<int> numbered(const std::vector<int>& mate) {
  std::vector<int> part_of(mate.size(), alone);
  int next = 0;
  for (std::size_t v = 0; v < mate.size(); ++v) {
    if (part_of[v] != alone) continue;
    part_of[v] = next;
    part_of[at(mate[v])] = next++;
  }
  return part_of;
}

}  // namespace

Level::Level(const Graph& graph, const std::vector<signed char>& fixed)
    : finest_(&graph), fixed_(fixed), total_(graph.size()) {}

Level::Level(Graph graph, const Level& finer, std::vector<int> part_of)
    : own_(std::move(graph)), part_of_(std::move(part_of)), total_(finer.total()) {
  weights_.assign(at(own_.size()), 0);
  for (std::size_t v = 0; v < part_of_.size(); ++v) {
    weights_[at(part_of_[v])] += finer.weight(static_cast<int>(v));
  }
  heaviest_ = *std::max_element(weights_.begin(), weights_.end());
  if (finer.fixed_.empty()) return;
  fixed_.assign(weights_.size(), 0);
  for (std::size_t v = 0; v < part_of_.size(); ++v) fixed_[at(part_of_[v])] = finer.fixed_[v];
}

std::vector<signed char> Level::carried_back(const std::vector<signed char>& side) const {
  std::vector<signed char> finer(part_of_.size());
  for (std::size_t v = 0; v < part_of_.size(); ++v) finer[v] = side[at(part_of_[v])];
  return finer;
}

std::vector<Level> coarsened(const Level& finest, Random& random) {
  std::vector<Level> levels;
  const int most_weight = std::max(2, 3 * finest.total() / (2 * small_enough));
  while (true) {
    const Level& last = levels.empty() ? finest : levels.back();
    if (last.graph().size() <= small_enough) return levels;
    const std::vector<int> mate = matching(last, most_weight, random);
    std::vector<int> part_of = numbered(mate);
    const int parts = 1 + *std::max_element(part_of.begin(), part_of.end());
    // Stops if fewer than a tenth of the vertices disappear: isolated vertices, or stars.
    if (10 * parts > 9 * last.graph().size()) return levels;
    Graph graph = contracted(last.graph(), part_of, parts);
    Level next(std::move(graph), last, std::move(part_of));
    levels.push_back(std::move(next));
  }
}

namespace {

// Bounds for the weight of side 0. Merged vertices can be too heavy to meet them, hence `slack`.
struct Balance {
  int least = 0;
  int most = 0;
  int slack = 0;

  int violation(int weight) const {
    return std::max({0, least - slack - weight, weight - most - slack});
  }
};

// A cut under improvement. Keeps the weight of side 0 and all gains up to date.
class Mover {
 public:
  Mover(const Level& level, const Balance& balance, std::vector<signed char> side)
      : level_(level),
        graph_(level.graph()),
        balance_(balance),
        side_(std::move(side)),
        gain_(at(graph_.size())),
        locked_(at(graph_.size())),
        heaps_{GainHeap(graph_.size()), GainHeap(graph_.size())} {
    for (int v = 0; v < graph_.size(); ++v) {
      if (side_[at(v)] == 0) weight_ += level_.weight(v);
    }
    count_gains();
    looks_left_ = 2'000'000 + static_cast<long long>(graph_.edges() / 8);
  }

  // Repeats passes of moves until a pass does not improve the cut.
  void improve() {
    constexpr int most_passes = 8;
    for (int pass = 0; pass < most_passes && improve_once(); ++pass) {
    }
  }

  // Greedy graph growing. Starts with everything on side 1 and moves the vertex with the largest
  // gain to side 0, beginning with `seed`; keeps the best cut within the balance.
  void grow(int seed) {
    std::fill(locked_.begin(), locked_.end(), false);
    lock_fixed();
    heaps_[1].clear();
    if (!locked_[at(seed)]) heaps_[1].set(seed, gain_[at(seed)]);
    moves_.clear();
    State best = state();
    std::size_t best_moves = 0;
    int next = 0;
    while (weight_ < balance_.most) {
      if (heaps_[1].empty()) {  // the connected component is used up
        while (next < graph_.size() && (side_[at(next)] == 0 || locked_[at(next)])) ++next;
        if (next == graph_.size()) break;
        heaps_[1].set(next, gain_[at(next)]);
      }
      const int vertex = heaps_[1].top();
      heaps_[1].remove(vertex);
      if (balance_.violation(weight_ + level_.weight(vertex)) > 0 &&
          weight_ + level_.weight(vertex) > balance_.most) {
        continue;
      }
      move(vertex, [this](int other) {
        if (side_[at(other)] == 1 && !locked_[at(other)]) {
          heaps_[1].set(other, gain_[at(other)]);
        }
      });
      if (state() < best) {
        best = state();
        best_moves = moves_.size();
      }
    }
    undo_to(best_moves);
  }

  std::vector<signed char> take_side() { return std::move(side_); }
  int violation() const { return balance_.violation(weight_); }
  double cut() const { return cut_; }

 private:
  // Order of cuts: smaller violation of the balance first, then fewer bytes.
  struct State {
    int violation = 0;
    double cut = 0;
    bool operator<(const State& other) const {
      if (violation != other.violation) return violation < other.violation;
      return cut < other.cut;
    }
  };
  State state() const { return {balance_.violation(weight_), cut_}; }

  void count_gains() {
    cut_ = 0;
    for (int v = 0; v < graph_.size(); ++v) {
      const Graph::Row row = graph_.row(v);
      double gain = 0;
      double across = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool crosses = side_[at(row.neighbours[i])] != side_[at(v)];
        gain += crosses ? row.bytes[i] : -row.bytes[i];
        across += crosses ? row.bytes[i] : 0;
      }
      gain_[at(v)] = gain;
      cut_ += across / 2;
    }
  }

  void lock_fixed() {
    for (int v = 0; v < graph_.size(); ++v) {
      if (level_.fixed(v) != any_side) locked_[at(v)] = true;
    }
  }

  // Moves a vertex to the other side and calls changed(v) for each neighbour v.
  template <typename Changed>
  void move(int vertex, const Changed& changed) {
    flip(vertex, changed);
    moves_.push_back(vertex);
  }
  template <typename Changed>
  void flip(int vertex, const Changed& changed) {
    const signed char from = side_[at(vertex)];
    side_[at(vertex)] = static_cast<signed char>(1 - from);
    weight_ += from == 0 ? -level_.weight(vertex) : level_.weight(vertex);
    cut_ -= gain_[at(vertex)];
    gain_[at(vertex)] = -gain_[at(vertex)];
    const Graph::Row row = graph_.row(vertex);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      const double twice = 2 * row.bytes[i];
      gain_[at(other)] += side_[at(other)] == from ? twice : -twice;
      changed(other);
    }
  }
  void undo_to(std::size_t count) {
    while (moves_.size() > count) {
      flip(moves_.back(), [](int) {});
      moves_.pop_back();
    }
  }

  void fill_heaps() {
    for (GainHeap& heap : heaps_) heap.clear();
    const bool everybody = violation() > 0;
    for (int v = 0; v < graph_.size(); ++v) {
      if (locked_[at(v)]) continue;
      if (everybody || touches_the_cut(v)) heaps_[at(side_[at(v)])].set(v, gain_[at(v)]);
    }
    // If no vertex of a side touches the cut, all its vertices are candidates.
    for (int side = 0; side < 2; ++side) {
      if (!heaps_[at(side)].empty()) continue;
      for (int v = 0; v < graph_.size(); ++v) {
        if (!locked_[at(v)] && side_[at(v)] == side) heaps_[at(side)].set(v, gain_[at(v)]);
      }
    }
  }
  bool touches_the_cut(int vertex) const {
    const Graph::Row row = graph_.row(vertex);
    return std::any_of(row.neighbours.begin(), row.neighbours.end(),
                       [&](int other) { return side_[at(other)] != side_[at(vertex)]; });
  }

  // Takes the next vertex from the side that exceeds its bound, otherwise from the side with the
  // larger gain. Skips moves that would exceed the bounds by more than the heaviest vertex.
  std::optional<int> next_vertex() {
    while (true) {
      const bool zero = !heaps_[0].empty();
      const bool one = !heaps_[1].empty();
      if (!zero && !one) return std::nullopt;
      int from = 0;
      if (weight_ > balance_.most) {
        if (!zero) return std::nullopt;
      } else if (weight_ < balance_.least) {
        if (!one) return std::nullopt;
        from = 1;
      } else if (!zero || !one) {
        from = zero ? 0 : 1;
      } else {
        const double gain0 = heaps_[0].top_gain();
        const double gain1 = heaps_[1].top_gain();
        from = gain0 != gain1 ? (gain0 > gain1 ? 0 : 1)
                              : (2 * weight_ > balance_.least + balance_.most ? 0 : 1);
      }
      const int vertex = heaps_[at(from)].top();
      heaps_[at(from)].remove(vertex);
      const int after = weight_ + (from == 0 ? -1 : 1) * level_.weight(vertex);
      const int heaviest = level_.heaviest();
      const bool far_out = after < balance_.least - heaviest || after > balance_.most + heaviest;
      if (!far_out || balance_.violation(after) < violation()) return vertex;
    }
  }

  bool improve_once() {
    std::fill(locked_.begin(), locked_.end(), false);
    lock_fixed();
    fill_heaps();
    moves_.clear();
    const State start = state();
    State best = start;
    std::size_t best_moves = 0;
    // Ends the pass after this many moves without improvement in a row: beyond that, another run
    // finds more in the same time.
    const std::size_t wait = 6 + at(graph_.size()) / 32;
    while (moves_.size() - best_moves < wait && (looks_left_ > 0 || violation() > 0)) {
      const std::optional<int> vertex = next_vertex();
      if (!vertex) break;
      looks_left_ -= static_cast<long long>(graph_.row(*vertex).size());
      locked_[at(*vertex)] = true;
      move(*vertex, [this](int other) {
        if (!locked_[at(other)]) heaps_[at(side_[at(other)])].set(other, gain_[at(other)]);
      });
      if (state() < best) {
        best = state();
        best_moves = moves_.size();
      }
    }
    undo_to(best_moves);
    return best.violation < start.violation || best.cut < start.cut - 1e-9 * start.cut;
  }

  const Level& level_;
  const Graph& graph_;
  Balance balance_;
  std::vector<signed char> side_;
  std::vector<double> gain_;
  std::vector<char> locked_;
  std::array<GainHeap, 2> heaps_;
  std::vector<int> moves_;
  int weight_ = 0;
  double cut_ = 0;
  // Remaining budget of visited neighbours. Without a limit, passes over dense graphs are slow.
  long long looks_left_ = 0;
};

std::vector<signed char> everything_on_side_one(const Level& level) {
  std::vector<signed char> side(at(level.graph().size()), 1);
  for (int v = 0; v < level.graph().size(); ++v) {
    if (level.fixed(v) == 0) side[at(v)] = 0;
  }
  return side;
}

struct Candidate {
  std::vector<signed char> side;
  int violation = 0;
  double cut = 0;
  bool better_than(const Candidate& other) const {
    return violation != other.violation ? violation < other.violation : cut < other.cut;
  }
};

// Returns the best of a few cuts of a small graph, each grown from another random vertex.
std::vector<signed char> first_cut(const Level& level, const Balance& balance, Random& random) {
  constexpr int most_starts = 3;
  std::optional<Candidate> best;
  std::vector<int> seeds(at(level.graph().size()));
  std::iota(seeds.begin(), seeds.end(), 0);
  random.shuffle(seeds);
  if (seeds.size() > most_starts) seeds.resize(most_starts);
  for (const int seed : seeds) {
    Mover mover(level, balance, everything_on_side_one(level));
    mover.grow(seed);
    mover.improve();
    const int violation = mover.violation();
    const double cut = mover.cut();
    Candidate candidate{mover.take_side(), violation, cut};
    if (!best || candidate.better_than(*best)) best = std::move(candidate);
  }
  return best ? std::move(best->side) : std::vector<signed char>();
}

Balance balance_at(const Bisection& request, const Level& level) {
  return {request.least, request.most, level.heaviest() - 1};
}

Candidate run_once(const Bisection& request, const Level& finest, Random& random) {
  const std::vector<Level> coarser = coarsened(finest, random);
  const Level& coarsest = coarser.empty() ? finest : coarser.back();
  std::vector<signed char> side = first_cut(coarsest, balance_at(request, coarsest), random);
  for (std::size_t i = coarser.size(); i-- > 0;) {
    const Level& finer = i == 0 ? finest : coarser[i - 1];
    side = coarser[i].carried_back(side);
    Mover mover(finer, balance_at(request, finer), std::move(side));
    mover.improve();
    if (i == 0) {
      const int violation = mover.violation();
      const double cut = mover.cut();
      return {mover.take_side(), violation, cut};
    }
    side = mover.take_side();
  }
  const Mover mover(finest, balance_at(request, finest), side);
  return {std::move(side), mover.violation(), mover.cut()};
}

}  // namespace

Cut bisect(const Bisection& request) {
  const Level finest(request.graph, request.fixed);
  Random random(request.seed);
  std::optional<Candidate> best;
  for (int run = 0; run < std::max(1, request.tries); ++run) {
    Candidate candidate = run_once(request, finest, random);
    if (!best || candidate.better_than(*best)) best = std::move(candidate);
    if (best->violation == 0 && best->cut == 0) break;
  }
  return {std::move(best->side), best->cut};
}

Cut improve(const Bisection& request, Cut start) {
  const Level finest(request.graph, request.fixed);
  Mover mover(finest, balance_at(request, finest), std::move(start.side));
  mover.improve();
  const double bytes = mover.cut();
  return {mover.take_side(), bytes};
}

}  // namespace huddle::mapping
