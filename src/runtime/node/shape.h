// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Trees over the ranks of a team: who gathers from whom, who tells whom. One parent per rank, so a
// tree for any root takes memory in proportion to the ranks.
#pragma once

#include <span>
#include <vector>

namespace huddle::node {

class Tree {
 public:
  // parents[r] is the parent of rank r; the root is its own. pre: it is a tree.
  explicit Tree(std::vector<int> parents);

  int ranks() const { return static_cast<int>(parents_.size()); }
  int root() const { return root_; }
  int parent(int rank) const { return parents_[static_cast<std::size_t>(rank)]; }
  // In rising order.
  std::span<const int> children(int rank) const;
  // Edges between the root and the farthest rank.
  int depth() const;
  // The most children that a rank has.
  int degree() const;

 private:
  std::vector<int> parents_;
  std::vector<int> children_;  // of rank 0, then of rank 1, ...
  std::vector<int> first_;     // where each rank's children begin in children_; one more at the end
  int root_ = 0;
};

// Each over `order`, which lists every rank once, the root first: ranks that stand together in it
// become neighbours in the tree, so an order that follows the machine gives a tree that does.
Tree flat_tree(std::span<const int> order);
Tree chain_tree(std::span<const int> order);
// pre: degree is 1 or more.
Tree kary_tree(std::span<const int> order, int degree);
// Rank at place i has children at i + j * (degree + 1)^k beyond its own digits: a binomial tree for
// degree 1, its generalisation to more. pre: degree is 1 or more.
Tree knomial_tree(std::span<const int> order, int degree);

// Leaders of groups of ranks, level by level from the inside out: in each group of the first level
// the ranks hang from one leader, the leaders of a level from the leader of the group of the next
// level that holds them, the last ones from `root`. group_of[level][rank]. A group's leader is its
// first rank, the root where the root is in it.
Tree level_tree(std::span<const std::vector<int>> group_of, int ranks, int root);

// The order with `root` brought to the front: neighbours stay neighbours.
std::vector<int> rooted_order(std::span<const int> order, int root);

}  // namespace huddle::node
