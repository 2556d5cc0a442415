// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/coarsen.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/index.h"

namespace huddle::place {
namespace {

constexpr int alone = -1;
// A graph of so few vertices is cut without being made smaller.
constexpr int small_enough = 24;

// Each vertex with the one that it talks most with, of those that are left; random order, so that
// whole runs differ. A merged vertex that is too heavy would spoil the balance.
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
      // Of equals the lightest: sizes stay alike.
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

// By vertex: the merged vertex that it becomes part of, numbered from 0.
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
    // Hardly any more pairs: isolated vertices, or stars.
    if (10 * parts > 9 * last.graph().size()) return levels;
    Graph graph = contracted(last.graph(), part_of, parts);
    Level next(std::move(graph), last, std::move(part_of));
    levels.push_back(std::move(next));
  }
}

}  // namespace huddle::place
