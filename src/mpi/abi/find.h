// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers for the abi.h headers: how a back end finds symbols of an MPI library, which may have
// been loaded privately, and how it forms pointers from constants.
#pragma once

#include <cstdint>

namespace huddle::mpi {

// A function that returns the address of a symbol that the MPI itself exports, or null if it has no
// such symbol.
using Find = void* (*)(const char* name);

// Converts an integer to a pointer. Some MPIs define handles and special addresses as integers.
template <class Pointer>
Pointer pointer_of(std::uintptr_t value) {
  return reinterpret_cast<Pointer>(value);  // NOLINT(performance-no-int-to-ptr): the ABI says so
}

}  // namespace huddle::mpi
