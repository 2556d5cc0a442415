// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Simulates the part of an MPI that the back end calls for communicators and datatypes.
// Thread-safe. Locks only where every MPI has to, for attributes and object creation. Queries of a
// type take no lock, so they do not synchronize threads.
#pragma once

#include <cstddef>

#include "abi.h"

namespace huddle::mpi::stand_in {

// Returns a function of the simulated MPI, for the back end.
void* find(const char* name);

// Like MPI_Comm_dup and MPI_Comm_free: a handle is reused as soon as it is free.
Comm new_communicator();
void free_communicator(Comm comm);

// Like MPI_Type_contiguous and MPI_Type_free: types of several sizes, all of them dense.
Datatype new_type();
void free_type(Datatype type);

// The size of every predefined type.
inline constexpr std::size_t named_bytes = 8;

}  // namespace huddle::mpi::stand_in
