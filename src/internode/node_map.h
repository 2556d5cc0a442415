// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which ranks sit on which node. Nodes are numbered in the order of their first ranks; a rank's
// place is its number among the ranks of its node. Ranks that follow each other on one node are one
// run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace huddle::internode {

class NodeMap {
 public:
  // By rank: equal for ranks of one node, and for no others.
  explicit NodeMap(std::span<const std::uint64_t> keys);

  int ranks() const { return runs_.back().end(); }
  int nodes() const { return static_cast<int>(sizes_.size()); }
  int ranks_on(int node) const { return sizes_[static_cast<std::size_t>(node)]; }
  int most_ranks_on_a_node() const { return *std::max_element(sizes_.begin(), sizes_.end()); }
  int node_of(int rank) const { return run_of(rank).node; }
  int place_of(int rank) const {
    const Run& run = run_of(rank);
    return run.place + (rank - run.first);
  }
  int rank_at(int node, int place) const;
  // Whether the ranks of each node follow each other.
  bool is_in_order() const { return runs_.size() == sizes_.size(); }
  std::size_t runs() const { return runs_.size(); }

  // Action: (first rank, how many, node, place of the first).
  template <typename Action>
  void for_each_run(const Action& action) const {
    for (const Run& run : runs_) action(run.first, run.count, run.node, run.place);
  }

 private:
  struct Run {
    int first;
    int count;
    int node;
    int place;  // of the first

    int end() const { return first + count; }
  };
  const Run& run_of(int rank) const;

  std::vector<Run> runs_;               // by rank
  std::vector<std::size_t> by_node_;    // numbers of runs: by node, then by place
  std::vector<std::size_t> node_from_;  // where a node's begin there
  std::vector<int> sizes_;              // by node
};

}  // namespace huddle::internode
