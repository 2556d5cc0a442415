// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a placement can use: its NUMA nodes, and the bandwidth that the copy curves of
// the machine file predict for its cores. Also the selection of hardware threads that balances
// ranks or threads over sockets and NUMA nodes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/topology.h"
#include "placement/mapping/mapping.h"

namespace huddle::mapping {

// Returns the total rate in GB/s at which these hardware threads copy memory of their own NUMA
// nodes, all at the same time. Each copies at the rate of the most contended level for which the
// machine file has curves of several copiers. Returns nothing if it has no such curves.
std::optional<double> memory_gb_per_s(const machine::CostModel& model, std::span<const int> pus);

// Returns the sum of these rates over all nodes of a placement.
std::optional<double> memory_gb_per_s(const machine::CostModel& model, const SlotTree& tree,
                                      const Mapping& mapping);

// Copy rates are accurate to a few percent, so smaller losses of bandwidth are ignored.
inline constexpr double least_bandwidth_kept = 0.95;

struct MemoryUse {
  int numa_nodes = 0;
  std::optional<double> gb_per_s = {};
};
// Returns how many NUMA nodes, and how much memory bandwidth, ranks or threads on these hardware
// threads of one node can use.
MemoryUse memory_use(const machine::CostModel& model, std::span<const int> pus);

// Returns whether `after` occupies fewer NUMA nodes than `before`, or has clearly less bandwidth.
bool uses_less(const MemoryUse& after, const MemoryUse& before);

// Returns the hardware threads among `candidates` that `elements` ranks or threads use. Every
// socket, and within it every NUMA node, gets the same number as far as it has candidates, so that
// all memory bandwidth is usable; within a NUMA node, cores come before further hardware threads of
// the same core. Hardware threads in `required` are always included: a socket or NUMA node that
// needs more than its share for them gets more, and the others get less. If all candidates are in
// one NUMA node, returns cores_first().
std::vector<int> balanced_pus(const machine::Topology& topology, const std::vector<int>& candidates,
                              const machine::CpuSet& required, int elements);

// Returns one hardware thread of every core of `candidates`, all of them that are `required`, and,
// as long as there are fewer than `elements`, further hardware threads of the same cores. Then no
// core is free while elements share another one, unless `required` demands it.
std::vector<int> cores_first(const machine::Topology& topology, const std::vector<int>& candidates,
                             const machine::CpuSet& required, int elements);

}  // namespace huddle::mapping
