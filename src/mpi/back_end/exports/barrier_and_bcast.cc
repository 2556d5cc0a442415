// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/call.h"
#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/exports/export.h"

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Barrier(Comm comm) { return carry_out(process(), BarrierCall{comm}); }

HUDDLE_EXPORT int MPI_Bcast(void* buffer, int count, Datatype type, int root, Comm comm) {
  return carry_out(process(), BcastCall{buffer, count, type, root, comm});
}

HUDDLE_EXPORT int MPI_Bcast_c(void* buffer, Count count, Datatype type, int root, Comm comm) {
  return carry_out(process(), BcastCall{buffer, count, type, root, comm});
}
