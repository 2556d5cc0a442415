// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ranks of each node that speak with other nodes in one collective. Several share its data by
// bytes, each with a slice, which it exchanges with those that have the same slice elsewhere: so it
// does not matter how many ranks a node has. Results are joined element by element, so that slices
// do not show in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/internode/node_map.h"
#include "runtime/node/blocks.h"
#include "runtime/schedules/sizes.h"

namespace huddle::internode {

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
    const net::Sizes sizes = net::Sizes::cut(count, unit, count_);
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

}  // namespace huddle::internode
