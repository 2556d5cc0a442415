// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle map` is asked, made ready for the methods: which slots there are, who is fixed, who
// sits where now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/machine/cost.h"
#include "placement/mapping/assignments.h"
#include "tools/cli/map_report.h"

namespace huddle::cli {

struct SlotQuestion {
  int elements = 0;
  int nodes = 0;  // 0: as many as it takes
  std::optional<machine::CpuSet> allowed = {};
  std::vector<place::Assignment> named = {};  // whose processors have to be among the slots
  // Uses all processors instead of sharing the elements out over nodes, sockets and NUMA nodes.
  bool packs = false;
  int least_on_a_node = 0;  // slots that every node has at least
};

// Throws UsageError where there are fewer processors than elements.
place::SlotTree slot_tree(const machine::CostModel& model, const SlotQuestion& question);

// Between two nodes: by the machine's network, or as such networks usually are.
double network_ns(const machine::CostModel& model);
inline constexpr double usual_network_ns = 1500;

struct Seats {
  std::vector<place::Assignment> fixed = {};
  std::vector<place::Assignment> present = {};  // empty: what the next one says
  std::vector<int> nodes = {};  // of each element; empty: by number, on processors by number
  std::uint64_t seed = 1;
};
// Throws UsageError where somebody is to sit where there is no slot, or two on one.
place::Problem problem_of(const place::Graph& graph, const place::SlotTree& tree,
                          const Seats& seats);

// The hosts of a profile, as they come; and by element which of them it ran on. Nothing where the
// matrix does not say it of everybody.
struct Hosts {
  std::vector<std::string> names;
  std::vector<int> of_element;
};
Hosts hosts_of(const place::CommMatrix& matrix);

// Returns what the elements can use where they are, shared out evenly, and on all cores.
Bandwidth bandwidth_of(const place::Problem& problem, const machine::CostModel& model,
                       const SlotQuestion& question);

// Places by a method and measures the processor time that it takes.
Placed place_by(const place::Problem& problem, const place::MethodOptions& options);
// Returns the present placement, for a matrix on which no method should be run.
Placed left_alone(const place::Problem& problem, const place::MethodOptions& options);

}  // namespace huddle::cli
