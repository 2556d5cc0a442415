// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The MPIs of this machine, by their launchers.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/doctor/doctor.h"

namespace huddle::doctor {

// Which MPI it is: from what its launcher prints, and from the names of its libraries.
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

// A launcher that was found, and what it says it is.
struct Launcher {
  std::string path;
  std::optional<MpiVersion> version = {};  // nothing: it did not say, or not in a way we know
  bool too_slow = false;
};

// The folders of a PATH, in its order, each once.
std::vector<std::string> folders_of(std::string_view search_path);

// Launchers in these folders; several names of one program count once.
std::vector<Launcher> find_launchers(const std::vector<std::string>& folders,
                                     std::chrono::milliseconds wait);

std::vector<Finding> judge_mpi(const std::vector<Launcher>& launchers,
                               const std::vector<std::string>& libraries);

}  // namespace huddle::doctor
