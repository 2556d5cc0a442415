// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is to be placed where, and what a placement is worth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/mapping/graph.h"
#include "placement/mapping/slots.h"

namespace huddle::mapping {

inline constexpr int no_slot = -1;

// By element (a rank or a thread): the slot that it sits on. One element a slot.
using Mapping = std::vector<int>;

struct Problem {
  const Graph& graph;
  const SlotTree& tree;  // has at least as many slots as the graph has vertices
  Mapping fixed;         // no_slot: may sit anywhere
  Mapping present;       // where all sit now; keeps to `fixed`
  std::uint64_t seed = 1;

  int elements() const { return graph.size(); }
};

// Bytes times the distance that they go, over all pairs: what is minimised.
double hop_bytes(const Problem& problem, const Mapping& mapping);

// Everything that is said of a placement.
struct Quality {
  double hop_bytes = 0;
  double accuracy = 0;                 // MappingAccuracy: bytes over distance, over all pairs
  std::vector<double> share_of_level;  // of all bytes, by level of the tree: stay within it
  std::vector<double> largest_load;    // by level: most bytes between two of its neighbours
  int moved = 0;                       // elements that do not sit where they are now
};
Quality quality_of(const Problem& problem, const Mapping& mapping);

// Element by slot; -1 where a slot is free.
std::vector<int> occupants(const Problem& problem, const Mapping& mapping);

// What is wrong with a mapping, or nothing: not one to one, or a fixed element elsewhere.
std::string flaw_of(const Problem& problem, const Mapping& mapping);

}  // namespace huddle::mapping
