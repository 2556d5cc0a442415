// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory from the MPI, and back to it. Whoever has wishes for it (an info) is left to the MPI.
#include <cstring>

#include "mpi/back_end/exports/export.h"
#include "mpi/back_end/process.h"

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Alloc_mem(Aint bytes, Info info, void* place) {
  void* const lent = bytes > 0 ? process().lend(static_cast<std::size_t>(bytes), info) : nullptr;
  if (lent == nullptr) return process().real().alloc_mem(bytes, info, place);
  std::memcpy(place, &lent, sizeof lent);
  return success;
}

HUDDLE_EXPORT int MPI_Free_mem(void* block) {
  return process().take_back(block) ? success : process().real().free_mem(block);
}
