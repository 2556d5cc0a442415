// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/speaker.h"

#include <array>
#include <cstdlib>
#include <string_view>

namespace huddle::mpi {

bool is_speaker() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

}  // namespace huddle::mpi
