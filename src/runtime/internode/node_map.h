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

#include "runtime/node/blocks.h"
#include "runtime/schedules/schedule.h"

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

// The ranks of each node that speak with other nodes in one collective. Several share its data by
// bytes, each with a slice, which it exchanges with those that have the same slice elsewhere: so it
// does not matter how many ranks a node has. Results are joined element by element, so that slices
// do not show in them.

// How a call's data are shared out.
struct Sharing {
  int leaders = 1;   // of each node
  int segments = 1;  // that follow each other: while one is between nodes, these do their parts
  bool operator==(const Sharing&) const = default;
};

class Leaders {
 public:
  // Keeps a reference. pre: each node has so many ranks.
  explicit Leaders(const NodeMap& map, int count = 1) : map_(&map), count_(count) {}

  // As many as the smallest node has ranks.
  static int most(const NodeMap& map) {
    int least = map.ranks_on(0);
    for (int node = 1; node < map.nodes(); ++node) least = std::min(least, map.ranks_on(node));
    return least;
  }

  int count() const { return count_; }
  // Evenly over a node's ranks, which mostly sit in the order of its sockets.
  int place(int node, int leader) const { return leader * map_->ranks_on(node) / count_; }
  int rank(int node, int leader) const { return map_->rank_at(node, place(node, leader)); }
  // Which one is at that place; -1: none.
  int at(int node, int place_there) const {
    const int ranks = map_->ranks_on(node);
    const int leader = (place_there * count_ + ranks - 1) / ranks;
    return leader < count_ && place(node, leader) == place_there ? leader : -1;
  }

  // Of so many elements of `unit` bytes. -1: nothing.
  node::Block slice(int leader, std::size_t count, std::size_t unit) const {
    if (leader < 0) return {};
    const schedules::Sizes sizes = schedules::Sizes::cut(count, unit, count_);
    return {static_cast<std::ptrdiff_t>(sizes.offset(leader)), sizes.bytes(leader)};
  }
  // Of a node's ranks, by place, one behind the other: a slice of so many elements of `unit` bytes
  // for each leader, nothing for others.
  std::vector<node::Block> slices(int node, std::size_t count, std::size_t unit) const {
    std::vector<node::Block> slices;
    std::ptrdiff_t end = 0;
    for (int place = 0; place < map_->ranks_on(node); ++place) {
      slices.push_back({end, slice(at(node, place), count, unit).bytes});
      end += static_cast<std::ptrdiff_t>(slices.back().bytes);
    }
    return slices;
  }

 private:
  const NodeMap* map_;
  int count_;
};

// No more leaders than the smallest node has ranks, and one at least, as of segments.
inline Sharing shared_on(const NodeMap& map, Sharing wanted) {
  return {std::clamp(wanted.leaders, 1, Leaders::most(map)), std::max(wanted.segments, 1)};
}

// The ranks' blocks of a call as they travel between nodes: those of a node side by side, in the
// order of places, node after node. What a program hands in lies in the order of ranks, or
// anywhere.
class NodeOrder {
 public:
  // As large a block for each rank, in the order of ranks.
  NodeOrder(const NodeMap& map, std::size_t bytes) : NodeOrder(map, node::Blocks::even(bytes)) {}
  // By rank. Keeps references.
  NodeOrder(const NodeMap& map, const node::Blocks& blocks);

  std::size_t bytes() const { return starts_.back(); }
  std::size_t start_of(int node) const { return starts_[static_cast<std::size_t>(node)]; }
  std::size_t bytes_of(int node) const { return start_of(node + 1) - start_of(node); }
  // A block for each node.
  schedules::Sizes sizes() const;

  // Whether the program's blocks lie in one piece, in this order already.
  bool is_as_given() const { return is_as_given_; }
  // Where the first block is in the program's buffer. pre: is_as_given().
  std::ptrdiff_t first_offset() const { return first_offset_; }
  // From the program's buffer, and back into it.
  void pack(const std::byte* given, std::byte* ordered) const;
  void unpack(const std::byte* ordered, std::byte* given) const;

 private:
  // Bytes that lie in one piece both ways. Action: (offset given, offset in order, bytes).
  template <typename Action>
  void for_each_piece(const Action& action) const;

  const NodeMap& map_;
  node::Blocks blocks_;
  std::vector<std::size_t> starts_;  // by node, and the end
  bool is_as_given_ = false;
  std::ptrdiff_t first_offset_ = 0;
};

// Of the ranks of one node, by place, from the node's first block on.
std::vector<node::Block> blocks_of_node(const NodeMap& map, int node, const node::Blocks& blocks);

}  // namespace huddle::internode
