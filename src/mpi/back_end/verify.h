// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// HUDDLE_VERIFY=1: every collective that huddle takes is made by the MPI as well, and the results
// are compared.
#pragma once

#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"

namespace huddle::mpi {

// Takes the call, makes it natively beside, complains of the first difference of the process and
// counts the others. pre: as for the call's take(). For all calls that carry_out() knows.
template <class Call>
Route verified(Process& process, Communicator& communicator, const Call& call);

}  // namespace huddle::mpi
