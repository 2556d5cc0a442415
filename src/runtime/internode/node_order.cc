// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/node_order.h"

#include <algorithm>
#include <cstring>

namespace huddle::internode {

NodeOrder::NodeOrder(const NodeMap& map, const node::Blocks& blocks) : map_(map), blocks_(blocks) {
  starts_.reserve(static_cast<std::size_t>(map.nodes()) + 1);
  std::size_t end = 0;
  for (int node = 0; node < map.nodes(); ++node) {
    starts_.push_back(end);
    for (int place = 0; place < map.ranks_on(node); ++place) {
      end += blocks.of(map.rank_at(node, place)).bytes;
    }
  }
  starts_.push_back(end);
  std::size_t pieces = 0;
  for_each_piece([&](std::ptrdiff_t given, std::size_t /*ordered*/, std::size_t /*bytes*/) {
    if (pieces++ == 0) first_offset_ = given;
  });
  is_as_given_ = pieces == 1;
}

template <typename Action>
void NodeOrder::for_each_piece(const Action& action) const {
  std::ptrdiff_t given = 0;
  std::size_t ordered = 0;
  std::size_t bytes = 0;
  map_.for_each_run([&](int first, int count, int /*node*/, int /*place*/) {
    for (int rank = first; rank < first + count;) {
      const node::Blocks::Run run = blocks_.run(rank, first + count);
      rank = run.next;
      if (run.block.bytes == 0) continue;
      if (bytes > 0 && given + static_cast<std::ptrdiff_t>(bytes) == run.block.offset) {
        bytes += run.block.bytes;
        continue;
      }
      if (bytes > 0) action(given, ordered, bytes);
      ordered += bytes;
      given = run.block.offset;
      bytes = run.block.bytes;
    }
  });
  if (bytes > 0) action(given, ordered, bytes);
}

net::Sizes NodeOrder::sizes() const {
  const auto nodes = starts_.size() - 1;
  const bool all_alike =
      std::adjacent_find(starts_.begin(), starts_.end(),
                         [first = starts_[1]](std::size_t low, std::size_t high) {
                           return high - low != first;
                         }) == starts_.end();
  if (all_alike) return net::Sizes::equal(starts_[1]);
  std::vector<std::size_t> listed;
  listed.reserve(nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    listed.push_back(starts_[node + 1] - starts_[node]);
  }
  return net::Sizes::listed(listed);
}

void NodeOrder::pack(const std::byte* given, std::byte* ordered) const {
  for_each_piece([&](std::ptrdiff_t from, std::size_t to, std::size_t bytes) {
    std::memcpy(ordered + to, given + from, bytes);
  });
}

void NodeOrder::unpack(const std::byte* ordered, std::byte* given) const {
  for_each_piece([&](std::ptrdiff_t to, std::size_t from, std::size_t bytes) {
    std::memcpy(given + to, ordered + from, bytes);
  });
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
