// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The placement problem, a placement (mapping) of ranks or threads on slots, and its quality.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/mapping/graph.h"
#include "placement/mapping/memory_time.h"
#include "placement/mapping/slots.h"

namespace huddle::mapping {

inline constexpr int no_slot = -1;

// The slot of each element (a rank or a thread). A slot holds at most one element.
using Mapping = std::vector<int>;

struct MappingProblem {
  const Graph& graph;
  const SlotTree& tree;  // size() >= graph.size()
  Mapping fixed;         // by element: its required slot, or no_slot if any slot is allowed
  Mapping present;       // current placement, which respects `fixed`
  std::uint64_t seed = 1;
  // Waiting times for memory. Null if it is unknown how much the elements stream.
  const MemoryTimes* memory = nullptr;
  double lines_per_byte = 1.0 / 64;  // of the graph

  int elements() const { return graph.size(); }
};

// Returns the sum over all pairs of bytes times latency.
double hop_bytes(const MappingProblem& problem, const Mapping& mapping);

// The predicted time that all elements together wait for each other's cache lines and for memory.
struct PredictedTime {
  double communication_ns = 0;
  double memory_ns = 0;  // 0 if it is unknown how much the elements stream

  double ns() const { return communication_ns + memory_ns; }
};
// Returns the time that the methods minimise.
PredictedTime predicted_time(const MappingProblem& problem, const Mapping& mapping);

// Metrics of a placement.
struct Quality {
  PredictedTime time;
  double hop_bytes = 0;
  double accuracy = 0;  // MappingAccuracy: sum of bytes divided by latency over all pairs
  // by level of the tree: fraction of all bytes that stays within it
  std::vector<double> share_of_level;
  std::vector<double> largest_load;  // by level: largest number of bytes between two siblings
  int moved = 0;                     // elements whose slot differs from their current one
};
Quality quality_of(const MappingProblem& problem, const Mapping& mapping);

// Returns the element on each slot, -1 for a free slot.
std::vector<int> occupants(const MappingProblem& problem, const Mapping& mapping);

// Returns why a mapping is invalid: several elements on one slot, or a fixed element on another
// slot. Returns an empty text if it is valid.
std::string flaw_of(const MappingProblem& problem, const Mapping& mapping);

}  // namespace huddle::mapping
