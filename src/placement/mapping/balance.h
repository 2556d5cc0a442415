// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Shares elements out over the sockets and NUMA nodes of a node, so that they can use the memory
// bandwidth of all of them.
#pragma once

#include <vector>

#include "model/machine/cpu_set.h"
#include "model/machine/topology.h"

namespace huddle::place {

// Returns the processors among `candidates` that `elements` elements use. Every socket, and within
// it every NUMA node, gets the same number of elements, as far as it has candidates; within a NUMA
// node, cores come before further hardware threads of the same core. Processors in `required` are
// always included: a socket or NUMA node that needs more than its share for them gets more, and the
// others get less. If all candidates are in one NUMA node, all of them are returned.
std::vector<int> balanced_pus(const machine::Topology& topology, const std::vector<int>& candidates,
                              const machine::CpuSet& required, int elements);

}  // namespace huddle::place
