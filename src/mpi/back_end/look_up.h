// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A function of the MPI by its name.
#pragma once

#include "abi.h"

namespace huddle::mpi {

// POSIX lets a function come as an object's address.
template <class Function>
void look_up(Find find, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(find(name));
}

}  // namespace huddle::mpi
