// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a placement can use: NUMA nodes, and the bandwidth that the copy curves of the
// machine file give to that many cores at once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/topology.h"
#include "placement/mapping/mapping.h"

namespace huddle::mapping {

// Returns the rate in GB/s at which these processors copy memory of their own NUMA nodes, all at
// the same time. Each copies at the rate of the most contended of the levels for which the machine
// file has curves of several copiers. Returns nothing if it has none.
std::optional<double> memory_gb_per_s(const machine::CostModel& model, std::span<const int> pus);

// Returns the same for a placement, over all its nodes.
std::optional<double> memory_gb_per_s(const machine::CostModel& model, const SlotTree& tree,
                                      const Mapping& mapping);

// Copy rates are measured to within a few percent: only a larger loss of bandwidth is one.
inline constexpr double least_bandwidth_kept = 0.95;

struct MemoryUse {
  int numa_nodes = 0;
  std::optional<double> gb_per_s = {};
};
// Returns the memory that elements on these processors of one node can use.
MemoryUse memory_use(const machine::CostModel& model, std::span<const int> pus);

// Returns whether `after` occupies fewer NUMA nodes than `before`, or has clearly less bandwidth.
bool uses_less(const MemoryUse& after, const MemoryUse& before);

// Shares elements out over the sockets and NUMA nodes of a node, so that they can use the memory
// bandwidth of all of them.

// Returns the processors among `candidates` that `elements` elements use. Every socket, and within
// it every NUMA node, gets the same number of elements, as far as it has candidates; within a NUMA
// node, cores come before further hardware threads of the same core. Processors in `required` are
// always included: a socket or NUMA node that needs more than its share for them gets more, and the
// others get less. If all candidates are in one NUMA node, all of them are returned.
std::vector<int> balanced_pus(const machine::Topology& topology, const std::vector<int>& candidates,
                              const machine::CpuSet& required, int elements);

}  // namespace huddle::mapping
