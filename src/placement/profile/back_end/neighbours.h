// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whom a rank sends to in a collective between neighbours.
#pragma once

#include <vector>

#include "placement/profile/back_end/mpi.h"

namespace huddle::profile {

// By rank in the communicator, in the order in which its parts go. Negative: nobody is there, which
// has its part all the same. None where the communicator has no topology.
std::vector<int> neighbours_of(const Mpi& mpi, Comm comm, int own_rank);

}  // namespace huddle::profile
