// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// As much of an MPI as the back end asks about communicators and datatypes, for several threads. It
// locks where every MPI has to, around attributes and what is made; questions after a type it
// answers without a lock, so that it orders no threads for those who ask.
#pragma once

#include <cstddef>

#include "abi.h"

namespace huddle::mpi::stand_in {

// Where the back end finds its functions.
void* find(const char* name);

// As MPI_Comm_dup and MPI_Comm_free: a handle is used again as soon as it is free.
Comm new_communicator();
void free_communicator(Comm comm);

// As MPI_Type_contiguous and MPI_Type_free: types of several sizes, all of them dense.
Datatype new_type();
void free_type(Datatype type);

// So many bytes has any named type here.
inline constexpr std::size_t named_bytes = 8;

}  // namespace huddle::mpi::stand_in
