// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Defines and looks up MPI functions by name.
#pragma once

#include "abi.h"

// Linkage and visibility of every exported MPI function.
#define HUDDLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace huddle::mpi {

// Looks up a function of the MPI. POSIX permits the conversion from an object pointer.
template <class Function>
void look_up(Find find, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(find(name));
}

}  // namespace huddle::mpi
