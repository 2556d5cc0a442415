// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The warning about ranks whose CPU binding or memory is probably a mistake. At most one rank of a
// job prints it, once: after the set-up of the first team that contains all ranks of rank 0's node.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/system.h"
#include "model/machine/topology.h"
#include "mpi/options.h"
#include "runtime/team/cpu_binding.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/placement_check.h"

namespace huddle::mpi {

// The placement of the ranks of a team, by rank. Refers to the memory of others.
struct RankPlacement {
  std::span<const team::CpuBinding> bindings;
  std::span<const team::MemoryNodes> memory_nodes;
  std::span<const int> in_job;  // the ranks in MPI_COMM_WORLD
  const machine::Topology& topology;
};

// Returns the warning that the team's rank `rank` prints; nothing if another rank prints it or no
// mistake is found. The environment consists of "NAME=value" lines; it contains what the launcher
// reports about the binding. Returns nothing if the user has given each rank its cores explicitly.
// Requires: the team contains all ranks of its node, and rank 0 of the job is among them.
std::optional<std::string> placement_warning(const RankPlacement& placement, int rank,
                                             const std::vector<std::string>& environment);

// Returns whether the hardware threads, cores and NUMA nodes of the topology are those of this
// machine. They differ if the user has selected the machine file of another machine.
bool is_topology_of(const System& system, const machine::Topology& topology);

// Checks the placement once per process. Thread-safe.
class PlacementCheck {
 public:
  // `ranks_here` is the number of the job's ranks on this node; 0 if unknown.
  PlacementCheck(int ranks_here, Warn warn) : ranks_here_(ranks_here), warn_(std::move(warn)) {}

  // Returns the NUMA nodes of sampled pages of the data, for the set-up of a team. Returns nothing
  // if they do not matter (with one NUMA node, after check(), or if the user has chosen the nodes)
  // and if memory is exhausted.
  std::vector<int> sample(std::span<const std::byte> data,
                          const machine::Topology& topology) const noexcept;
  // Warns about the ranks of a team that has been set up; `in_job` contains their ranks in
  // MPI_COMM_WORLD, and `rank` is this one. Does nothing if ranks of the node are missing, if the
  // topology is that of another machine, or if memory is exhausted.
  void check(const team::GroupConfiguration& group, const machine::Topology& topology,
             std::span<const int> in_job, int rank) noexcept;

 private:
  int ranks_here_;
  Warn warn_;
  std::atomic<bool> is_done_{false};
};

}  // namespace huddle::mpi
