// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Multilevel bisection of a graph that minimises the bytes across the cut. Vertices that exchange
// the most are merged pairwise until few are left. This coarse graph is cut, and the cut is
// projected back and improved on each finer level (Fiduccia-Mattheyses moves).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/random.h"

namespace huddle::mapping {

// Max-heap of the vertices of one side, by the gain of moving them to the other side.
class GainHeap {
 public:
  explicit GainHeap(int vertices) : position_(static_cast<std::size_t>(vertices), absent) {}

  bool empty() const { return heap_.empty(); }
  int top() const { return heap_.front().vertex; }
  double top_gain() const { return heap_.front().gain; }
  bool contains(int vertex) const { return position_[huddle::at(vertex)] != absent; }

  // Inserts the vertex or updates its gain.
  void set(int vertex, double gain) {
    std::size_t at = position_[huddle::at(vertex)];
    if (at == absent) {
      at = heap_.size();
      heap_.push_back({gain, vertex});
      position_[huddle::at(vertex)] = at;
      rise(at);
      return;
    }
    const bool rises = gain > heap_[at].gain;
    heap_[at].gain = gain;
    rises ? rise(at) : sink(at);
  }
  void remove(int vertex) {
    const std::size_t at = position_[huddle::at(vertex)];
    if (at == absent) return;
    position_[huddle::at(vertex)] = absent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    heap_[at] = last;
    position_[huddle::at(last.vertex)] = at;
    rise(at);
    sink(position_[huddle::at(last.vertex)]);
  }
  void clear() {
    for (const Entry& entry : heap_) position_[huddle::at(entry.vertex)] = absent;
    heap_.clear();
  }

 private:
  struct Entry {
    double gain = 0;
    int vertex = 0;
  };
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  void rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (heap_[parent].gain >= entry.gain) break;
      place(at, heap_[parent]);
      at = parent;
    }
    place(at, entry);
  }
  void sink(std::size_t at) {
    const Entry entry = heap_[at];
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1].gain > heap_[child].gain) ++child;
      if (entry.gain >= heap_[child].gain) break;
      place(at, heap_[child]);
      at = child;
    }
    place(at, entry);
  }
  void place(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    position_[huddle::at(entry.vertex)] = at;
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> position_;  // in heap_, by vertex
};

// One graph of the hierarchy. Its vertices stand for one or more vertices of the next finer graph.
class Level {
 public:
  // The finest level. Keeps references to `graph`. `fixed`: see Bisection; may be empty.
  Level(const Graph& graph, const std::vector<signed char>& fixed);
  // A coarser level. `part_of` is, by vertex of `finer`, the vertex of `graph` that contains it.
  Level(Graph graph, const Level& finer, std::vector<int> part_of);

  const Graph& graph() const { return finest_ == nullptr ? own_ : *finest_; }
  int weight(int vertex) const {
    return weights_.empty() ? 1 : weights_[static_cast<std::size_t>(vertex)];
  }
  int heaviest() const { return heaviest_; }
  int total() const { return total_; }
  signed char fixed(int vertex) const {
    return fixed_.empty() ? static_cast<signed char>(-1) : fixed_[static_cast<std::size_t>(vertex)];
  }

  // Projects a cut of this level onto the next finer one.
  std::vector<signed char> carried_back(const std::vector<signed char>& side) const;

 private:
  const Graph* finest_ = nullptr;
  Graph own_;
  std::vector<int> weights_;  // empty: all weights are 1
  std::vector<signed char> fixed_;
  std::vector<int> part_of_;
  int heaviest_ = 1;
  int total_ = 0;
};

// Returns the coarser levels, finest first. Empty if `finest` is small enough to be cut directly.
std::vector<Level> coarsened(const Level& finest, Random& random);

inline constexpr signed char any_side = -1;

struct Bisection {
  const Graph& graph;
  // Required side of each vertex (0 or 1), or any_side. Empty if no vertex is fixed.
  std::vector<signed char> fixed = {};
  // Bounds for the number of vertices on side 0.
  int least = 0;
  int most = 0;
  int tries = 1;  // number of complete runs, of which the best is kept
  std::uint64_t seed = 1;
};

struct Cut {
  std::vector<signed char> side;  // by vertex: 0 or 1
  double bytes = 0;               // between the two sides
};

// Returns the best cut that was found.
// Requires: least <= most, and the fixed vertices permit a cut within these bounds.
Cut bisect(const Bisection& request);

// Improves an existing cut by moves. The result is never worse than `start`.
Cut improve(const Bisection& request, Cut start);

}  // namespace huddle::mapping
