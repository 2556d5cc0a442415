// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A separate file, so that tests can build the library without it and show what then hangs.
#include "mpi/back_end/process.h"

namespace huddle::mpi {

// A rank that waits in huddle may be the one that a remote rank waits for: large messages,
// nonblocking collectives and one-sided access progress only while a process calls the MPI.
void Process::poll_mpi_progress() { mpi_progress_.poll(); }

}  // namespace huddle::mpi
