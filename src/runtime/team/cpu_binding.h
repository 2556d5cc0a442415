// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// CPU affinity of the ranks of a team. All ranks derive the same placement and oversubscription
// from the bindings that they have gathered.
#pragma once

#include <sched.h>

#include <span>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::team {

// The hardware threads on which a rank may run. Is sent between processes as plain bytes.
struct CpuBinding {
  cpu_set_t allowed;
  double processors = 0;  // CPU quota of its cgroup, in processors; 0 if unlimited
};
// Returns the binding of the calling thread. `processors` is the CPU quota of the cgroup, 0 if
// unlimited; the caller passes it because reading it takes dozens of system calls.
CpuBinding cpu_binding_of_this_thread(double processors);

// Returns the hardware thread that each rank is assumed to run on: its own if it is bound to one;
// ranks with equal bindings are distributed over them in rank order. A hardware thread that is not
// in the topology is replaced by one that is.
std::vector<int> processors_of(std::span<const CpuBinding> by_rank,
                               const machine::Topology& topology);

// Returns whether `rank` is bound to a single hardware thread on which no other rank may run.
bool has_own_processor(std::span<const CpuBinding> by_rank, int rank);
// Returns whether `rank` is oversubscribed: more ranks share its hardware threads than there are.
bool is_crowded(std::span<const CpuBinding> by_rank, int rank);
// The same counting all processes of the job, including those outside the team, because a rank that
// may run on all of the machine's `processors` shares them with all of these processes.
// `processes_here` is the number of processes; 0 if unknown.
bool is_crowded_by_all(const CpuBinding& mine, int processes_here, std::size_t processors);

}  // namespace huddle::team
