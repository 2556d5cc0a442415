// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the members of a team sit and how many want the same processors, worked out alike on all
// ranks from what each says of itself.
#pragma once

#include <sched.h>

#include <span>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::team {

// Where the kernel lets a rank run. Goes from process to process as it is.
struct CpuBinding {
  cpu_set_t allowed;
  double processors = 0;  // of time that its control group has; 0: no limit
};
// processors: of time, that the control group of this process has; 0: no limit. It takes dozens of
// system calls to ask for it, so that it is not asked here.
CpuBinding cpu_binding_of_this_thread(double processors);

// The processor that each rank is counted for: its own where it is bound to one; otherwise ranks
// with the same choice are dealt over it in rank order. A processor that the topology does not have
// is replaced by one that it has.
std::vector<int> processors_of(std::span<const CpuBinding> by_rank,
                               const machine::Topology& topology);

// Whether `rank` is bound to one processor, where no other rank may run.
bool has_own_processor(std::span<const CpuBinding> by_rank, int rank);
// Whether `rank` shares its processors with more ranks than there are.
bool is_crowded(std::span<const CpuBinding> by_rank, int rank);
// The same with all processes of the job, whether they are of this team or not: who may run on each
// of the machine's processors shares them with everybody. processes_here: 0: unknown.
bool is_crowded_by_all(const CpuBinding& mine, int processes_here, std::size_t processors);

}  // namespace huddle::team
