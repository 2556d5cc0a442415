// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Placement of a team's ranks: groups of ranks that are close, and the trees built on them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::node {

// Tree over the ranks of a team, for gathering and for notifications. Stores one parent per rank,
// so that the tree for one root takes memory in proportion to the ranks.
class Tree {
 public:
  // parents[r] is the parent of rank r; the root is its own parent.
  // Requires: `parents` describes a tree.
  explicit Tree(std::vector<int> parents);

  int ranks() const { return static_cast<int>(parents_.size()); }
  int root() const { return root_; }
  int parent(int rank) const { return parents_[static_cast<std::size_t>(rank)]; }
  // Returns the children in ascending order.
  std::span<const int> children(int rank) const;
  // Returns the number of edges between the root and the farthest rank.
  int depth() const;
  // Returns the largest number of children of a rank.
  int degree() const;

 private:
  std::vector<int> parents_;
  std::vector<int> children_;  // of rank 0, then of rank 1, ...
  std::vector<int> first_;     // index of each rank's first child in children_; one more at the end
  int root_ = 0;
};

// These functions build a tree over `order`, which lists every rank once, the root first. Ranks
// adjacent in `order` become neighbors in the tree, so an order that follows the machine gives a
// tree that does.
Tree flat_tree(std::span<const int> order);
Tree chain_tree(std::span<const int> order);
// Requires: degree is at least 1.
Tree kary_tree(std::span<const int> order, int degree);
// A k-nomial tree of radix degree + 1, which is a binomial tree for degree 1. If places are written
// in base degree + 1, a rank's parent is at the place whose lowest nonzero digit is replaced by 0.
// Requires: degree is at least 1.
Tree knomial_tree(std::span<const int> order, int degree);

// Tree of group leaders, from the innermost level outwards: in each group of the first level the
// ranks are children of one leader; the leaders of a level are children of the leader of the
// enclosing group at the next level, and the last ones are children of `root`. A group is given by
// group_of[level][rank]; its leader is `root` if the group contains it, else its first rank.
Tree level_tree(std::span<const std::vector<int>> group_of, int ranks, int root);

// Returns `order` rotated so that `root` is first, which keeps neighbors together.
std::vector<int> rooted_order(std::span<const int> order, int root);

struct RankLocality {
  std::vector<int> pus;    // OS index of each rank's hardware thread, or of one that stands for it
  std::vector<int> order;  // all ranks, such that close ranks follow each other
  // Only levels that distinguish ranks, from the innermost outwards: group_of[level][rank].
  std::vector<std::string> levels;
  std::vector<std::vector<int>> group_of;
  // Local NUMA node of each rank, renumbered from 0 in the order of first occurrence.
  std::vector<int> memory_of;

  int ranks() const { return static_cast<int>(pus.size()); }
};

// Returns the locality of a team whose ranks run on these hardware threads.
// Requires: every hardware thread is in the topology.
RankLocality locality(const machine::Topology& topology, std::vector<int> pus);
// Returns a locality in which all ranks are equally close.
RankLocality unknown_locality(int ranks);

// Shape of a notification or barrier tree, independent of its root.
struct Shape {
  enum class Kind { flat, chain, kary, knomial, levels };
  Kind kind = Kind::flat;
  int degree = 1;  // of kary and knomial

  bool operator==(const Shape&) const = default;
};
std::string name(const Shape& shape);  // for example "flat", "4-ary", "2-nomial"
Tree tree(const Shape& shape, const RankLocality& locality, int root);

// Roles of one rank in the trees of all shapes and roots. Entries are computed on first use, so
// memory and time are in proportion to the ranks.
class Roles {
 public:
  struct Role {
    int parent = -1;  // -1: not computed yet
    bool has_children = false;
  };
  Roles(std::vector<Shape> shapes, const RankLocality& locality, int rank);

  // Requires: `shape` is an index into `shapes`.
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
