// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a back end finds what an MPI library exports, by name, since the library may have been loaded
// privately; and what every abi.h needs to say its values.
#pragma once

#include <cstdint>

namespace huddle::mpi {

// The address of what the MPI itself exports under this name, null where it has no such thing.
using Find = void* (*)(const char* name);

// Some of an MPI's handles and addresses are plain numbers.
template <class Pointer>
Pointer pointer_of(std::uintptr_t value) {
  return reinterpret_cast<Pointer>(value);  // NOLINT(performance-no-int-to-ptr): the ABI says so
}

}  // namespace huddle::mpi
