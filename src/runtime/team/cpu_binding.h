// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// CPU affinity of the ranks of a team. From the gathered bindings, all ranks derive the same
// placement and determine which ranks are oversubscribed.
#pragma once

#include <sched.h>

#include <span>
#include <vector>

#include "common/system.h"
#include "model/machine/topology.h"

namespace huddle::team {

// The hardware threads on which a rank may run. Processes exchange it as plain bytes.
struct CpuBinding {
  cpu_set_t allowed;
  double processors = 0;  // CPU quota of the rank's cgroup, in CPUs; 0 if unlimited
  cpu_set_t at_start{};   // see cpus_at_start(); empty if unknown
};
// Returns the binding of the calling thread. `processors` is the CPU quota of the cgroup, or 0 if
// it is unlimited; the caller passes it because reading it takes dozens of system calls.
CpuBinding cpu_binding_of_this_thread(double processors);

// Returns the hardware threads that this process could use at its start, before anything bound it:
// those on which the process that started it may run, and which its cgroup allows. Returns an empty
// set if they are unknown, for example because that process is in another container.
cpu_set_t cpus_at_start(const CgroupLimits& limits);

// Returns by rank the OS index of the hardware thread on which the rank is assumed to run. Ranks
// with the same binding are distributed over its hardware threads in rank order. A hardware thread
// that is not in the topology is replaced by one that is.
std::vector<int> processors_of(std::span<const CpuBinding> by_rank,
                               const machine::Topology& topology);

// Returns whether `rank` is bound to a single hardware thread on which no other rank may run.
bool has_own_processor(std::span<const CpuBinding> by_rank, int rank);
// Returns whether `rank` is oversubscribed: the ranks whose bindings overlap its own outnumber the
// hardware threads in these bindings, or its CPU quota.
bool is_crowded(std::span<const CpuBinding> by_rank, int rank);
// Returns whether a rank is oversubscribed if all processes of the job count, including those
// outside the team: it may run on all of the machine's `processors` hardware threads, and
// `processes_here` exceeds their number. `processes_here` is the number of the job's processes on
// this machine; 0 if unknown.
bool is_crowded_by_all(const CpuBinding& mine, int processes_here, std::size_t processors);

}  // namespace huddle::team
