// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the ranks of a team sit, as far as protocols need it: which stand near each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::node {

// Trees over the ranks of a team: who gathers from whom, who tells whom. One parent per rank, so a
// tree for any root takes memory in proportion to the ranks.
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

struct RankLocality {
  std::vector<int> pus;    // the processor of each rank, or the one that it is counted for
  std::vector<int> order;  // ranks from neighbour to neighbour
  // From the inside out, only levels that tell ranks apart: group_of[level][rank].
  std::vector<std::string> levels;
  std::vector<std::vector<int>> group_of;
  // The memory that each rank calls home, counted from 0 in the order of first ranks.
  std::vector<int> memory_of;

  int ranks() const { return static_cast<int>(pus.size()); }
};

// pre: every processor is in the topology.
RankLocality locality(const machine::Topology& topology, std::vector<int> pus);
// Nothing is known of where anybody sits.
RankLocality unknown_locality(int ranks);

// What a notification tree or a barrier's tree looks like, whatever its root.
struct Shape {
  enum class Kind { flat, chain, kary, knomial, levels };
  Kind kind = Kind::flat;
  int degree = 1;  // of kary and knomial

  bool operator==(const Shape&) const = default;
};
std::string name(const Shape& shape);  // "flat", "4-ary", "2-nomial"
Tree tree(const Shape& shape, const RankLocality& locality, int root);

// What one rank does in the trees of all shapes and roots. Filled in as roots come up: memory in
// proportion to the ranks, time too.
class Roles {
 public:
  struct Role {
    int parent = -1;  // -1: not known yet
    bool has_children = false;
  };
  Roles(std::vector<Shape> shapes, const RankLocality& locality, int rank);

  // pre: shape is the number of one of the shapes.
  const Role& of(int shape, int root) {
    Role& role =
        roles_[static_cast<std::size_t>(shape) * static_cast<std::size_t>(locality_.ranks()) +
               static_cast<std::size_t>(root)];
    if (role.parent < 0) role = work_out(shape, root);
    return role;
  }

 private:
  Role work_out(int shape, int root) const;

  std::vector<Shape> shapes_;
  RankLocality locality_;
  int rank_;
  std::vector<Role> roles_;  // by shape, then by root
};

}  // namespace huddle::node
