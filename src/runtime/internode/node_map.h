// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which ranks sit on which node. Nodes are numbered in the order of their first ranks; a rank's
// place is its number among the ranks of its node. Where each node's ranks follow each other, it is
// enough to know where each node's begin; else there is a table of 8 bytes a rank, which the ranks
// of a node can have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace huddle::internode {

class NodeMap {
 public:
  // By rank: equal for ranks of one node, and for no others. A table is its own.
  explicit NodeMap(std::span<const std::uint64_t> keys);
  // How many ranks the nodes before each have, and all: their ranks follow each other.
  explicit NodeMap(std::vector<int> starts) : starts_(std::move(starts)) {}
  // The same, of ranks that sit anywhere. The table is complete.
  NodeMap(std::vector<int> starts, std::shared_ptr<const int> table)
      : starts_(std::move(starts)), table_(std::move(table)) {}

  static constexpr std::size_t table_size(int ranks) { return 2 * static_cast<std::size_t>(ranks); }
  // Fills in the rest. pre: the first half has all ranks, node by node, those of each rising.
  static void complete(std::span<int> table, std::span<const int> starts);

  int ranks() const { return starts_.back(); }
  int nodes() const { return static_cast<int>(starts_.size()) - 1; }
  int ranks_before(int node) const { return starts_[static_cast<std::size_t>(node)]; }
  int ranks_on(int node) const { return ranks_before(node + 1) - ranks_before(node); }
  int most_ranks_on_a_node() const;
  int node_of(int rank) const;
  int place_of(int rank) const;
  int rank_at(int node, int place) const {
    const int number = ranks_before(node) + place;
    return is_in_order() ? number : table_.get()[number];
  }
  // Whether the ranks of each node follow each other.
  bool is_in_order() const { return table_ == nullptr; }

  // Node by node. Action: (first rank, how many follow each other, node, place of the first).
  template <typename Action>
  void for_each_run(const Action& action) const {
    for (int node = 0; node < nodes(); ++node) {
      const int ranks = ranks_on(node);
      for (int place = 0; place < ranks;) {
        const int first = rank_at(node, place);
        int count = is_in_order() ? ranks : 1;
        while (place + count < ranks && rank_at(node, place + count) == first + count) ++count;
        action(first, count, node, place);
        place += count;
      }
    }
  }

 private:
  std::vector<int> starts_;           // by node: how many ranks those before have; and all
  std::shared_ptr<const int> table_;  // ranks node by node, then nodes by rank; null: in order
};

}  // namespace huddle::internode
