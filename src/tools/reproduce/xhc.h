// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// XHC's flat broadcast on a modelled machine.
#pragma once

#include <cstddef>
#include <vector>

#include "model/machine/machine.h"

namespace huddle::reproduce {

// Returns the simulated time of one broadcast by rank, from when all ranks call it. Rank 0 is the
// root. Ranks are on the first cores, and the root has rewritten its data since the previous call.
// Requires: the machine has at least `ranks` cores, and ranks >= 2.
std::vector<double> flat_bcast_ns(const machine::Machine& machine, int ranks, std::size_t bytes);

double mean_of(const std::vector<double>& times);

}  // namespace huddle::reproduce
