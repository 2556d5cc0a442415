// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which MPI it is: from what its launcher prints, and from the names of its libraries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::doctor {

struct MpiVersion {
  std::string family;   // "Open MPI", "MPICH", "Intel MPI", "MVAPICH", "PRRTE", "Slurm"
  std::string version;  // "4.1.4"

  bool operator==(const MpiVersion&) const = default;
};

// pre: `text` is what a launcher printed when it was asked for its version.
std::optional<MpiVersion> parse_mpi_version(std::string_view text);

// MPI libraries among the lines of `ldconfig -p`, each with what speaks that binary interface:
// "libmpi.so.40 (Open MPI)". Sorted, each once.
std::vector<std::string> parse_loader_libraries(std::string_view text);

}  // namespace huddle::doctor
