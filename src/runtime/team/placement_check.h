// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Detects ranks whose CPU binding or memory is probably a mistake: ranks that share cores while
// other cores are free, and ranks whose data are on another NUMA node.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/machine/topology.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::team {

// Ranks whose bindings contain fewer cores than ranks, although the job may use cores on which none
// of its ranks may run.
struct SharedCores {
  std::vector<int> ranks;     // in ascending order
  machine::CpuSet cpus;       // the hardware threads in the bindings of these ranks
  int cores = 0;              // number of cores with these hardware threads
  machine::CpuSet free_cpus;  // hardware threads of the job's cores on which no rank may run
  int free_cores = 0;         // number of the job's cores on which no rank may run
};

// Returns the ranks that share cores; nothing if no rank has to, if no core is free, if the ranks
// outnumber the job's cores, or if a binding is unknown. The hardware threads of a core count as
// one core. The job may use the hardware threads on which its ranks or the processes that started
// them may run, but not more than its CPU quota and `most_cpus`, the number of CPUs that the batch
// system has allocated on this machine (0: unknown).
// Requires: `by_rank` contains all ranks of the job on this machine.
std::optional<SharedCores> find_shared_cores(std::span<const CpuBinding> by_rank,
                                             const machine::Topology& topology, double most_cpus);

// The number of pages that are sampled per rank. Each takes the kernel less than a microsecond.
inline constexpr int sampled_pages = 8;

// The NUMA nodes of a rank and of sampled pages of its data. Processes exchange it as plain bytes.
struct MemoryNodes {
  static constexpr int no_node = -1;

  int cpu_node = no_node;     // contains all hardware threads of the binding
  int memory_node = no_node;  // has most of the pages
  int pages_there = 0;        // number of pages on memory_node
  int pages = 0;              // number of pages on nodes that have hardware threads

  // Returns whether most pages are on one other node. Pages on several nodes are usual if a rank
  // has threads on several nodes, each of which initializes its part of the data. Requires that at
  // least half of the sampled pages are known.
  bool are_remote() const {
    return cpu_node != no_node && memory_node != no_node && memory_node != cpu_node &&
           2 * pages >= sampled_pages && 2 * pages_there > pages;
  }
};

// `page_nodes` contains the node of each sampled page, or memory::unknown_node. Allocates no
// memory.
MemoryNodes memory_nodes(const CpuBinding& binding, const machine::Topology& topology,
                         std::span<const int> page_nodes) noexcept;

}  // namespace huddle::team
