// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "internode/node_map.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace huddle::internode {

NodeMap::NodeMap(std::span<const std::uint64_t> keys) {
  std::unordered_map<std::uint64_t, int> numbers;
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    const int node = numbers.try_emplace(keys[rank], nodes()).first->second;
    if (node == nodes()) sizes_.push_back(0);
    int& size = sizes_[static_cast<std::size_t>(node)];
    if (runs_.empty() || runs_.back().node != node) {
      runs_.push_back({static_cast<int>(rank), 0, node, size});
    }
    ++runs_.back().count;
    ++size;
  }
  by_node_.resize(runs_.size());
  std::iota(by_node_.begin(), by_node_.end(), std::size_t{0});
  std::stable_sort(by_node_.begin(), by_node_.end(),
                   [this](std::size_t a, std::size_t b) { return runs_[a].node < runs_[b].node; });
  for (std::size_t at = 0; at < by_node_.size(); ++at) {
    if (runs_[by_node_[at]].place == 0) node_from_.push_back(at);
  }
}

const NodeMap::Run& NodeMap::run_of(int rank) const {
  return *std::prev(
      std::upper_bound(runs_.begin(), runs_.end(), rank,
                       [](int number, const Run& run) { return number < run.first; }));
}

int NodeMap::rank_at(int node, int place) const {
  const auto at = static_cast<std::size_t>(node);
  const auto begin = by_node_.begin() + static_cast<std::ptrdiff_t>(node_from_[at]);
  const auto end = at + 1 < node_from_.size()
                       ? by_node_.begin() + static_cast<std::ptrdiff_t>(node_from_[at + 1])
                       : by_node_.end();
  const auto behind = std::upper_bound(
      begin, end, place, [this](int number, std::size_t run) { return number < runs_[run].place; });
  const Run& run = runs_[*std::prev(behind)];
  return run.first + (place - run.place);
}

}  // namespace huddle::internode
