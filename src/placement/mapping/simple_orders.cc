// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/simple_orders.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "placement/mapping/random.h"

namespace huddle::place {
namespace {

std::vector<int> all_slots(const Problem& problem) {
  std::vector<int> slots(static_cast<std::size_t>(problem.tree.size()));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

Mapping seated(const Problem& problem, const std::vector<int>& order) {
  std::vector<char> taken(order.size(), 0);
  for (const int slot : problem.fixed) {
    if (slot != no_slot) taken[static_cast<std::size_t>(slot)] = 1;
  }
  Mapping mapping = problem.fixed;
  std::size_t next = 0;
  for (int& slot : mapping) {
    if (slot != no_slot) continue;
    while (taken[static_cast<std::size_t>(order[next])] != 0) ++next;
    slot = order[next++];
  }
  return mapping;
}

// The slots below an object, children taking turns.
std::vector<int> in_turns(const SlotTree& tree, int number) {
  const Object& object = tree.objects()[static_cast<std::size_t>(number)];
  if (object.is_leaf()) return {object.first};
  std::vector<std::vector<int>> below;
  for (const int child : object.children) below.push_back(in_turns(tree, child));
  std::vector<int> slots;
  for (std::size_t turn = 0; slots.size() < static_cast<std::size_t>(object.slots()); ++turn) {
    for (const std::vector<int>& one : below) {
      if (turn < one.size()) slots.push_back(one[turn]);
    }
  }
  return slots;
}

// By node and processor number.
std::vector<int> by_number(const Problem& problem) {
  std::vector<int> order = all_slots(problem);
  std::sort(order.begin(), order.end(), [&problem](int a, int b) {
    const Slot& one = problem.tree.slots()[static_cast<std::size_t>(a)];
    const Slot& other = problem.tree.slots()[static_cast<std::size_t>(b)];
    return std::pair(one.node, one.pu) < std::pair(other.node, other.pu);
  });
  return order;
}

}  // namespace

Mapping in_order(const Problem& problem) { return seated(problem, by_number(problem)); }

std::optional<Mapping> on_nodes(const Problem& problem, std::span<const int> node_of) {
  std::vector<std::vector<int>> free(static_cast<std::size_t>(problem.tree.nodes()));
  for (const int slot : by_number(problem)) {
    if (std::find(problem.fixed.begin(), problem.fixed.end(), slot) != problem.fixed.end())
      continue;
    free[static_cast<std::size_t>(problem.tree.slots()[static_cast<std::size_t>(slot)].node)]
        .push_back(slot);
  }
  std::vector<std::size_t> next(free.size(), 0);
  Mapping mapping = problem.fixed;
  for (std::size_t element = 0; element < mapping.size(); ++element) {
    if (mapping[element] != no_slot) continue;
    const auto node = static_cast<std::size_t>(node_of[element]);
    if (next[node] == free[node].size()) return std::nullopt;
    mapping[element] = free[node][next[node]++];
  }
  return mapping;
}

Mapping compact(const Problem& problem) { return seated(problem, all_slots(problem)); }

Mapping scatter(const Problem& problem) { return seated(problem, in_turns(problem.tree, 0)); }

Mapping at_random(const Problem& problem) {
  std::vector<int> order = all_slots(problem);
  Random random(problem.seed);
  random.shuffle(order);
  return seated(problem, order);
}

}  // namespace huddle::place
