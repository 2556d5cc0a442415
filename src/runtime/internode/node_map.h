// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The placement of ranks on nodes. Nodes are numbered in the order of their lowest ranks; the place
// of a rank is its index among the ranks of its node. If the ranks of each node are consecutive,
// the first rank of each node describes the map; otherwise there is a table of 8 bytes per rank,
// which the ranks of a node may share.
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
  // keys: by rank; two ranks have the same key if and only if they are on the same node. Allocates
  // a table if the ranks of some node are not consecutive.
  explicit NodeMap(std::span<const std::uint64_t> keys);
  // starts: by node, the number of ranks on the nodes before it; the last element is the number of
  // all ranks.
  // Requires: the ranks of each node are consecutive.
  explicit NodeMap(std::vector<int> starts) : starts_(std::move(starts)) {}
  // The same for ranks in any order.
  // Requires: complete() has filled in the second half of the table.
  NodeMap(std::vector<int> starts, std::shared_ptr<const int> table)
      : starts_(std::move(starts)), table_(std::move(table)) {}

  static constexpr std::size_t table_size(int ranks) { return 2 * static_cast<std::size_t>(ranks); }
  // Fills in the second half of a table.
  // Requires: the first half contains the ranks node by node, in ascending order within a node.
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
  // Returns whether the ranks of each node are consecutive.
  bool is_in_order() const { return table_ == nullptr; }

  // Visits runs of consecutive ranks, node by node: action(first rank, number of ranks, node, place
  // of the first rank).
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
  std::vector<int> starts_;           // by node: number of ranks on the nodes before it; last: all
  std::shared_ptr<const int> table_;  // ranks node by node, then nodes by rank; null: in order
};

// The split of a call's data into slices and segments.
struct Sharing {
  int leaders = 1;   // per node
  int segments = 1;  // pipelined: one is sent between nodes while the nodes work on others
  bool operator==(const Sharing&) const = default;
};

// The ranks of each node that communicate with other nodes in one collective. Several leaders split
// the data by bytes: each has a slice, which it exchanges with the leaders of the same slice on
// other nodes. The number of ranks per node may therefore differ. Slices do not change results,
// because elements are reduced independently of each other.
class Leaders {
 public:
  // Keeps a reference.
  // Requires: each node has at least `count` ranks.
  explicit Leaders(const NodeMap& map, int count = 1) : map_(&map), count_(count) {}

  // Returns the largest possible number of leaders: the number of ranks of the smallest node.
  static int most(const NodeMap& map) {
    int least = map.ranks_on(0);
    for (int node = 1; node < map.nodes(); ++node) least = std::min(least, map.ranks_on(node));
    return least;
  }

  int count() const { return count_; }
  // Returns the place of a leader. Leaders are spread evenly over the places of a node, and thereby
  // mostly over its sockets.
  int place(int node, int leader) const { return leader * map_->ranks_on(node) / count_; }
  int rank(int node, int leader) const { return map_->rank_at(node, place(node, leader)); }
  // Returns the number of the leader at that place; -1 if there is none.
  int at(int node, int place_there) const {
    const int ranks = map_->ranks_on(node);
    const int leader = (place_there * count_ + ranks - 1) / ranks;
    return leader < count_ && place(node, leader) == place_there ? leader : -1;
  }

  // Returns the slice of `count` elements of `unit` bytes. For leader -1 it is empty.
  node::Block slice(int leader, std::size_t count, std::size_t unit) const {
    if (leader < 0) return {};
    const schedules::Sizes sizes = schedules::Sizes::cut(count, unit, count_);
    return {static_cast<std::ptrdiff_t>(sizes.offset(leader)), sizes.bytes(leader)};
  }
  // Returns contiguous blocks by place: for a leader its slice of `count` elements of `unit` bytes,
  // for other ranks an empty block.
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

// Returns the valid sharing that is closest to `wanted`: at least one leader and one segment, and
// no more leaders than the smallest node has ranks.
inline Sharing shared_on(const NodeMap& map, Sharing wanted) {
  return {std::clamp(wanted.leaders, 1, Leaders::most(map)), std::max(wanted.segments, 1)};
}

// The order in which the ranks' blocks are sent between nodes: node by node, and by place within a
// node. In the program's buffer the blocks are in rank order or at any offsets.
class NodeOrder {
 public:
  // A block of `bytes` for each rank, in rank order.
  NodeOrder(const NodeMap& map, std::size_t bytes) : NodeOrder(map, node::Blocks::even(bytes)) {}
  // blocks: by rank. Keeps references.
  NodeOrder(const NodeMap& map, const node::Blocks& blocks);

  std::size_t bytes() const { return starts_.back(); }
  std::size_t start_of(int node) const { return starts_[static_cast<std::size_t>(node)]; }
  std::size_t bytes_of(int node) const { return start_of(node + 1) - start_of(node); }
  // Returns the size of each node's block.
  schedules::Sizes sizes() const;

  // Returns whether the program's blocks are contiguous and already in this order.
  bool is_as_given() const { return is_as_given_; }
  // Returns the offset of the first block in the program's buffer.
  // Requires: is_as_given().
  std::ptrdiff_t first_offset() const { return first_offset_; }
  // Copy all blocks from the program's buffer into this order, and back.
  void pack(const std::byte* given, std::byte* ordered) const;
  void unpack(const std::byte* ordered, std::byte* given) const;

 private:
  // Visits the pieces that are contiguous both in the program's buffer and in this order:
  // action(offset in the buffer, offset in this order, bytes).
  template <typename Action>
  void for_each_piece(const Action& action) const;

  const NodeMap& map_;
  node::Blocks blocks_;
  std::vector<std::size_t> starts_;  // by node, and the end
  bool is_as_given_ = false;
  std::ptrdiff_t first_offset_ = 0;
};

// Returns the blocks of one node's ranks by place, with offsets from the node's first block.
std::vector<node::Block> blocks_of_node(const NodeMap& map, int node, const node::Blocks& blocks);

}  // namespace huddle::internode
