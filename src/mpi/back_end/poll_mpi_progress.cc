// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A separate file, so that tests can build the library without it and show which calls then hang.
#include "mpi/back_end/process.h"

namespace huddle::mpi {

// Called while a rank waits in huddle, because another rank may be waiting for this one in the MPI:
// large messages, nonblocking collectives and one-sided access progress only while a process calls
// the MPI.
void Process::poll_mpi_progress() { mpi_progress_.poll(); }

}  // namespace huddle::mpi
