// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/placement.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace huddle::fabric {
namespace {

std::vector<int> dealt(const Fabric& fabric) {
  std::vector<int> turn(fabric.switch_of_node.size());  // how manieth of its leaf a node is
  for (std::size_t node = 1; node < turn.size(); ++node) {
    const bool same = fabric.switch_of_node[node] == fabric.switch_of_node[node - 1];
    turn[node] = same ? turn[node - 1] + 1 : 0;
  }
  std::vector<int> nodes(turn.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::stable_sort(nodes.begin(), nodes.end(), [&turn](int a, int b) {
    return turn[static_cast<std::size_t>(a)] < turn[static_cast<std::size_t>(b)];
  });
  return nodes;
}

// The standard's engines give the same numbers everywhere, its distributions do not.
std::vector<int> shuffled(int count, std::uint64_t seed) {
  std::vector<int> nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::mt19937_64 engine(seed);
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[engine() % i]);
  return nodes;
}

}  // namespace

std::vector<int> place(const Fabric& fabric, int ranks, Placement placement, std::uint64_t seed) {
  std::vector<int> nodes;
  switch (placement) {
    case Placement::block:
      nodes.resize(static_cast<std::size_t>(ranks));
      std::iota(nodes.begin(), nodes.end(), 0);
      break;
    case Placement::round_robin:
      nodes = dealt(fabric);
      break;
    case Placement::random:
      nodes = shuffled(fabric.nodes(), seed);
      break;
  }
  nodes.resize(static_cast<std::size_t>(ranks));
  return nodes;
}

}  // namespace huddle::fabric
