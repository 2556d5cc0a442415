// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// In place of what keeps the MPI moving: nothing.
#include "mpi/back_end/process.h"

namespace huddle::mpi {

void Process::keep_moving() {}

}  // namespace huddle::mpi
