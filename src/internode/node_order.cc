// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "internode/node_order.h"

#include <cstring>

namespace huddle::internode {

NodeOrder::NodeOrder(const NodeMap& map, std::size_t bytes) : starts_(1, 0) {
  for (int node = 0; node < map.nodes(); ++node) {
    starts_.push_back(starts_.back() + bytes * static_cast<std::size_t>(map.ranks_on(node)));
  }
  map.for_each_run([&](int first, int count, int node, int place) {
    pieces_.push_back({static_cast<std::ptrdiff_t>(bytes) * first,
                       start_of(node) + bytes * static_cast<std::size_t>(place),
                       bytes * static_cast<std::size_t>(count)});
  });
  if (map.is_in_order()) pieces_ = {{0, 0, starts_.back()}};
}

NodeOrder::NodeOrder(const NodeMap& map, const node::Blocks& blocks) {
  std::size_t end = 0;
  for (int node = 0; node < map.nodes(); ++node) {
    starts_.push_back(end);
    for (int place = 0; place < map.ranks_on(node); ++place) {
      const node::Block block = blocks.of(map.rank_at(node, place));
      if (block.bytes == 0) continue;
      const bool continues =
          !pieces_.empty() &&
          pieces_.back().given + static_cast<std::ptrdiff_t>(pieces_.back().bytes) == block.offset;
      if (continues) {
        pieces_.back().bytes += block.bytes;
      } else {
        pieces_.push_back({block.offset, end, block.bytes});
      }
      end += block.bytes;
    }
  }
  starts_.push_back(end);
}

net::Sizes NodeOrder::sizes() const {
  std::vector<std::size_t> listed;
  for (std::size_t node = 0; node + 1 < starts_.size(); ++node) {
    listed.push_back(starts_[node + 1] - starts_[node]);
  }
  return net::Sizes::listed(listed);
}

void NodeOrder::pack(const std::byte* given, std::byte* ordered) const {
  for (const Piece& piece : pieces_) {
    std::memcpy(ordered + piece.ordered, given + piece.given, piece.bytes);
  }
}

void NodeOrder::unpack(const std::byte* ordered, std::byte* given) const {
  for (const Piece& piece : pieces_) {
    std::memcpy(given + piece.given, ordered + piece.ordered, piece.bytes);
  }
}

std::vector<node::Block> blocks_of_node(const NodeMap& map, int node, const node::Blocks& blocks) {
  std::vector<node::Block> of_node;
  std::ptrdiff_t from = 0;
  for (int place = 0; place < map.ranks_on(node); ++place) {
    const std::size_t bytes = blocks.of(map.rank_at(node, place)).bytes;
    of_node.push_back({from, bytes});
    from += static_cast<std::ptrdiff_t>(bytes);
  }
  return of_node;
}

}  // namespace huddle::internode
