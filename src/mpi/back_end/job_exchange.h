// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Collects the reports of all ranks on rank 0 at the end of a job.
#pragma once

#include <vector>

#include "mpi/back_end/underlying_mpi.h"
#include "mpi/call_log.h"

namespace huddle::mpi {

// Collective over MPI_COMM_WORLD. Returns the reports by rank on rank 0, and nothing on the other
// ranks or if a rank had no memory to send its report.
std::vector<RankReport> gathered_reports(const UnderlyingMpi& real, Comm world, RankReport mine);

}  // namespace huddle::mpi
