// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// By itself, so that tests can build the library without it and see what then stands still.
#include "mpi/back_end/process.h"

namespace huddle::mpi {

// Whoever waits for a rank of its node may be what a rank elsewhere waits for: large messages,
// nonblocking collectives and one-sided access go on only while somebody calls the MPI.
void Process::keep_moving() { mpi_progress_.poll(); }

}  // namespace huddle::mpi
