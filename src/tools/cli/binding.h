// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where a launcher puts ranks that it binds: what mpirun's --bind-to means to huddle, which counts
// a rank for a processor.
#pragma once

#include <string>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::cli {

// In the words of MPI launchers; what a machine does not have is an error there.
std::vector<std::string> binding_words();

// The processors that a rank may use, rank after rank in turn: the cores, the packages, ... of the
// machine (of these processors of it). Throws UsageError for another word, and for what the machine
// does not have.
std::vector<machine::CpuSet> binding_groups(const std::string& word,
                                            const machine::Topology& topology,
                                            const machine::CpuSet& usable);

// The processor that each rank is counted for, as a team counts: ranks with the same choice are
// dealt over it. pre: there is a group, and none is empty.
std::vector<int> bound_processors(int ranks, const std::vector<machine::CpuSet>& groups);

}  // namespace huddle::cli
