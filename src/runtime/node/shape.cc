// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/shape.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/index.h"

namespace huddle::node {
namespace {

// parent_place(i) is the place in `order` of the parent of the rank at place i.
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
  // The parent's number is the child's with its lowest digit that is not 0 made 0.
  return tree_by_place(order, [radix](int place) {
    int unit = 1;
    while (place / unit % radix == 0) unit *= radix;
    return place - place / unit % radix * unit;
  });
}

Tree level_tree(std::span<const std::vector<int>> group_of, int ranks, int root) {
  std::vector<int> parents(at(ranks), root);
  std::vector<int> leaders(at(ranks));  // those without a parent yet
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

}  // namespace huddle::node
