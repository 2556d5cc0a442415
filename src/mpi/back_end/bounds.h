// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the data of a call lie, seen from the address that the program names in it.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/back_end/message.h"

namespace huddle::mpi {

inline std::intptr_t number_of(const void* address) {
  return reinterpret_cast<std::intptr_t>(address);
}

// In bytes from that address. Nothing between them: there are no data.
struct Bounds {
  Aint begin = 0;
  Aint end = 0;
};
// pre: it has data.
Bounds bounds_of(const void* address, const Part& part);
Bounds bounds_of(const void* address, const std::vector<Part>& parts);

}  // namespace huddle::mpi
