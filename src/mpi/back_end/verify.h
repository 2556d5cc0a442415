// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// HUDDLE_VERIFY=1: every collective that huddle handles is made by the MPI as well, and the results
// are compared.
#pragma once

#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"

namespace huddle::mpi {

// Makes the call by huddle and by the MPI, prints the first difference of the process and counts
// all of them. The program gets huddle's result. Requires what the call's take() requires. Defined
// for all calls that carry_out() knows.
template <class Call>
Route verified(Process& process, Communicator& communicator, const Call& call);

}  // namespace huddle::mpi
