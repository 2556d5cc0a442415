// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ranks' blocks of a call as they travel between nodes: those of a node side by side, in the
// order of places, node after node. What a program hands in lies in the order of ranks, or
// anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/internode/node_map.h"
#include "runtime/node/blocks.h"
#include "runtime/schedules/sizes.h"

namespace huddle::internode {

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
  net::Sizes sizes() const;

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
