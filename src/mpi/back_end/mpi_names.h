// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include "abi.h"

// What every name of MPI that is exported here has.
#define HUDDLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace huddle::mpi {

// A function of the MPI by its name.

// POSIX lets a function come as an object's address.
template <class Function>
void look_up(Find find, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(find(name));
}

}  // namespace huddle::mpi
