// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A graph, and smaller and smaller ones that look like it: vertices that talk most are merged.
#pragma once

#include <vector>

#include "placement/mapping/graph.h"
#include "placement/mapping/random.h"

namespace huddle::place {

// A graph whose vertices stand for one or several of those of the graph that it was made from.
class Level {
 public:
  // The finest one: keeps a reference to the graph. `fixed`: see Bisection; may be empty.
  Level(const Graph& graph, const std::vector<signed char>& fixed);
  // Merged from a finer one: by vertex of that one, the vertex that it is part of.
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

  // What a cut of this one is on the finer one.
  std::vector<signed char> carried_back(const std::vector<signed char>& side) const;

 private:
  const Graph* finest_ = nullptr;
  Graph own_;
  std::vector<int> weights_;  // empty: all 1
  std::vector<signed char> fixed_;
  std::vector<int> part_of_;
  int heaviest_ = 1;
  int total_ = 0;
};

// From the next coarser one to the coarsest; empty where the graph is small enough to be cut.
std::vector<Level> coarsened(const Level& finest, Random& random);

}  // namespace huddle::place
