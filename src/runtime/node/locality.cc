// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/node/locality.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/arithmetic.h"
#include "model/machine/infer.h"

namespace huddle::node {
namespace {

// parent_place(i) returns the place in `order` of the parent of the rank at place i.
template <class ParentPlace>
Tree tree_by_place(std::span<const int> order, ParentPlace parent_place) {
  std::vector<int> parents(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int place = i == 0 ? 0 : parent_place(static_cast<int>(i));
    parents[at(order[i])] = order[at(place)];
  }
  return Tree(std::move(parents));
}

}  // namespace

Tree::Tree(std::vector<int> parents) : parents_(std::move(parents)), first_(parents_.size() + 1) {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (parent(rank) == rank) {
      root_ = rank;
    } else {
      ++first_[at(parent(rank)) + 1];
    }
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  children_.resize(at(first_.back()));
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (int rank = 0; rank < ranks(); ++rank) {
    if (rank != root_) children_[at(next[at(parent(rank))]++)] = rank;
  }
}

std::span<const int> Tree::children(int rank) const {
  const auto begin = at(first_[at(rank)]);
  return std::span(children_).subspan(begin, at(first_[at(rank) + 1]) - begin);
}

int Tree::depth() const {
  int deepest = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    int edges = 0;
    for (int up = rank; up != root_; up = parent(up)) ++edges;
    deepest = std::max(deepest, edges);
  }
  return deepest;
}

int Tree::degree() const {
  int most = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    most = std::max(most, static_cast<int>(children(rank).size()));
  }
  return most;
}

Tree flat_tree(std::span<const int> order) {
  return tree_by_place(order, [](int) { return 0; });
}

Tree chain_tree(std::span<const int> order) {
  return tree_by_place(order, [](int place) { return place - 1; });
}

Tree kary_tree(std::span<const int> order, int degree) {
  return tree_by_place(order, [degree](int place) { return (place - 1) / degree; });
}

Tree knomial_tree(std::span<const int> order, int degree) {
  const int radix = degree + 1;
  // The parent's place is the child's with its lowest nonzero digit in base `radix` set to 0.
  return tree_by_place(order, [radix](int place) {
    int unit = 1;
    while (place / unit % radix == 0) unit *= radix;
    return place - place / unit % radix * unit;
  });
}

Tree level_tree(std::span<const std::vector<int>> group_of, int ranks, int root) {
  std::vector<int> parents(at(ranks), root);
  std::vector<int> leaders(at(ranks));  // ranks without a parent yet
  std::iota(leaders.begin(), leaders.end(), 0);
  for (const std::vector<int>& group : group_of) {
    std::vector<int> leader_of(1 + at(*std::max_element(group.begin(), group.end())), -1);
    leader_of[at(group[at(root)])] = root;
    std::vector<int> next;
    for (const int rank : leaders) {
      int& leader = leader_of[at(group[at(rank)])];
      if (leader < 0) leader = rank;
      parents[at(rank)] = leader;
      if (leader == rank) next.push_back(rank);
    }
    leaders = std::move(next);
  }
  for (const int rank : leaders) parents[at(rank)] = root;
  return Tree(std::move(parents));
}

std::vector<int> rooted_order(std::span<const int> order, int root) {
  std::vector<int> rooted(order.begin(), order.end());
  std::rotate(rooted.begin(), std::find(rooted.begin(), rooted.end(), root), rooted.end());
  return rooted;
}

namespace {

// Renumbers keys as 0, 1, ... in the order of their first occurrence.
std::vector<int> numbered(const std::vector<int>& keys) {
  std::map<int, int> number;
  std::vector<int> numbers;
  for (const int key : keys) {
    numbers.push_back(number.emplace(key, static_cast<int>(number.size())).first->second);
  }
  return numbers;
}

// A rank outside every group of a level forms a group of its own.
std::vector<int> groups_of_ranks(const machine::GroupIndex& index, std::size_t level,
                                 const std::vector<int>& pus) {
  std::vector<int> keys;
  for (const int pu : pus) {
    const int group = index.group(level, pu);
    keys.push_back(group == machine::GroupIndex::no_group ? -1 - pu : group);
  }
  return numbered(keys);
}

int count_of(const std::vector<int>& groups) {
  return 1 + *std::max_element(groups.begin(), groups.end());
}

// Adds the levels that distinguish ranks. Skips a level at which every rank is alone or all ranks
// are together, or which equals the level inside it.
void add_telling_levels(RankLocality& locality, const machine::Topology& topology) {
  const machine::GroupIndex index(topology);
  for (std::size_t level = 0; level < index.levels(); ++level) {
    std::vector<int> groups = groups_of_ranks(index, level, locality.pus);
    const int count = count_of(groups);
    if (count == 1 || count == locality.ranks()) continue;
    if (!locality.group_of.empty() && locality.group_of.back() == groups) {
      // The name of a reported level replaces that of an equal level that was inferred from
      // latencies, because it does not depend on a measurement.
      std::string& name = locality.levels.back();
      if (machine::is_inferred(name)) name = topology.levels[level].name;
      continue;
    }
    locality.levels.push_back(topology.levels[level].name);
    locality.group_of.push_back(std::move(groups));
  }
}

std::vector<int> home_memories(const machine::Topology& topology, const std::vector<int>& pus) {
  std::vector<int> homes;
  for (const int pu : pus) {
    const machine::NumaNode* node = machine::home_node(topology, pu);
    homes.push_back(node == nullptr ? -1 : node->number);
  }
  return numbered(homes);
}

}  // namespace

RankLocality locality(const machine::Topology& topology, std::vector<int> pus) {
  RankLocality locality = unknown_locality(static_cast<int>(pus.size()));
  locality.pus = std::move(pus);
  add_telling_levels(locality, topology);
  locality.memory_of = home_memories(topology, locality.pus);
  // Sorts by the outermost group first, then inwards, then by rank.
  std::stable_sort(locality.order.begin(), locality.order.end(), [&](int a, int b) {
    for (std::size_t level = locality.group_of.size(); level-- > 0;) {
      const auto& groups = locality.group_of[level];
      if (groups[at(a)] != groups[at(b)]) return groups[at(a)] < groups[at(b)];
    }
    return false;
  });
  return locality;
}

RankLocality unknown_locality(int ranks) {
  RankLocality locality;
  locality.pus.resize(at(ranks));
  std::iota(locality.pus.begin(), locality.pus.end(), 0);
  locality.order = locality.pus;
  locality.memory_of.assign(at(ranks), 0);
  return locality;
}

std::string name(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::flat:
      return "flat";
    case Shape::Kind::chain:
      return "chain";
    case Shape::Kind::kary:
      return fmt::format("{}-ary", shape.degree);
    case Shape::Kind::knomial:
      return fmt::format("{}-nomial", shape.degree + 1);
    case Shape::Kind::levels:
      return "levels";
  }
  return {};
}

Tree tree(const Shape& shape, const RankLocality& locality, int root) {
  const std::vector<int> order = rooted_order(locality.order, root);
  switch (shape.kind) {
    case Shape::Kind::flat:
      return flat_tree(order);
    case Shape::Kind::chain:
      return chain_tree(order);
    case Shape::Kind::kary:
      return kary_tree(order, shape.degree);
    case Shape::Kind::knomial:
      return knomial_tree(order, shape.degree);
    case Shape::Kind::levels:
      return level_tree(locality.group_of, locality.ranks(), root);
  }
  return flat_tree(order);
}

Roles::Roles(std::vector<Shape> shapes, const RankLocality& locality, int rank)
    : shapes_(std::move(shapes)),
      locality_(locality),
      rank_(rank),
      roles_(shapes_.size() * at(locality.ranks())) {}

Roles::Role Roles::work_out(int shape, int root) const {
  const Tree whole = tree(shapes_[at(shape)], locality_, root);
  return {whole.parent(rank_), !whole.children(rank_).empty()};
}

}  // namespace huddle::node
