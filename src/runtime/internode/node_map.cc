// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/node_map.h"

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

}  // namespace huddle::internode
