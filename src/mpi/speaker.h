// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Of the ranks of a job only one speaks, and it has to be told before MPI says who is who.
#pragma once

namespace huddle::mpi {

// By what launchers put into the environment; a process that none launched speaks for itself.
bool is_speaker();

}  // namespace huddle::mpi
