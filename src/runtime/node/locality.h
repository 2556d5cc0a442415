// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the ranks of a team sit, as far as protocols need it: which stand near each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.h"
#include "runtime/node/shape.h"

namespace huddle::node {

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
