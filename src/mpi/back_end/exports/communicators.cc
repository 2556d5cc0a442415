// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// MPI_Comm_free and MPI_Comm_disconnect: while the MPI runs the delete callbacks of a
// communicator's attributes, the collective calls that they make on it go to the MPI.
#include "mpi/back_end/exports/export.h"
#include "mpi/back_end/process.h"

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Comm_free(Comm* comm) {
  return process().free(comm, process().real().comm_free);
}

HUDDLE_EXPORT int MPI_Comm_disconnect(Comm* comm) {
  return process().free(comm, process().real().comm_disconnect);
}
