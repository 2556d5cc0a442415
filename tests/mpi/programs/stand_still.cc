// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Replaces src/mpi/back_end/poll_mpi_progress.cc by a version that does not progress the MPI.
#include "mpi/back_end/process.h"

namespace huddle::mpi {

void Process::keep_moving() {}

}  // namespace huddle::mpi
