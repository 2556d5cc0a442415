// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/internode/node_map.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace huddle::internode {
namespace {

struct Table {
  explicit Table(std::size_t size) : numbers(size) {}
  std::vector<int> numbers;
};

}  // namespace

NodeMap::NodeMap(std::span<const std::uint64_t> keys) {
  std::unordered_map<std::uint64_t, int> numbers;
  std::vector<int> nodes;
  nodes.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    nodes.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  starts_.resize(numbers.size() + 1);
  for (const int node : nodes) ++starts_[static_cast<std::size_t>(node) + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  if (std::is_sorted(nodes.begin(), nodes.end())) return;
  const auto own = std::make_shared<Table>(table_size(ranks()));
  std::vector<int> next(starts_.begin(), starts_.end() - 1);
  for (int rank = 0; rank < ranks(); ++rank) {
    int& at = next[static_cast<std::size_t>(nodes[static_cast<std::size_t>(rank)])];
    own->numbers[static_cast<std::size_t>(at++)] = rank;
  }
  complete(own->numbers, starts_);
  table_ = std::shared_ptr<const int>(own, own->numbers.data());
}

void NodeMap::complete(std::span<int> table, std::span<const int> starts) {
  const auto by_rank = table.subspan(table.size() / 2);
  for (std::size_t node = 0; node + 1 < starts.size(); ++node) {
    for (int at = starts[node]; at < starts[node + 1]; ++at) {
      const int rank = table[static_cast<std::size_t>(at)];
      by_rank[static_cast<std::size_t>(rank)] = static_cast<int>(node);
    }
  }
}

int NodeMap::most_ranks_on_a_node() const {
  int most = 0;
  for (int node = 0; node < nodes(); ++node) most = std::max(most, ranks_on(node));
  return most;
}

int NodeMap::node_of(int rank) const {
  if (!is_in_order()) return table_.get()[ranks() + rank];
  return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), rank) -
                          starts_.begin()) -
         1;
}

int NodeMap::place_of(int rank) const {
  const int node = node_of(rank);
  if (is_in_order()) return rank - ranks_before(node);
  const int* const first = table_.get() + ranks_before(node);
  return static_cast<int>(std::lower_bound(first, first + ranks_on(node), rank) - first);
}

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

schedules::Sizes NodeOrder::sizes() const {
  const auto nodes = starts_.size() - 1;
  const bool all_alike =
      std::adjacent_find(starts_.begin(), starts_.end(),
                         [first = starts_[1]](std::size_t low, std::size_t high) {
                           return high - low != first;
                         }) == starts_.end();
  if (all_alike) return schedules::Sizes::equal(starts_[1]);
  std::vector<std::size_t> listed;
  listed.reserve(nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    listed.push_back(starts_[node + 1] - starts_[node]);
  }
  return schedules::Sizes::listed(listed);
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
