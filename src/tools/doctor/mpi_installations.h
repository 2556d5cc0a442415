// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Finds the MPIs of this machine by their launchers.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/doctor/doctor.h"

namespace huddle::doctor {

// Family and version of an MPI, from the output of its launcher.
struct MpiVersion {
  std::string family;   // "Open MPI", "MPICH", "Intel MPI", "MVAPICH", "PRRTE", "Slurm"
  std::string version;  // "4.1.4"

  bool operator==(const MpiVersion&) const = default;
};

// Parses the output of a launcher that was run with --version. Returns nothing if the MPI is
// unknown.
std::optional<MpiVersion> parse_mpi_version(std::string_view text);

// Returns the MPI libraries in the output of `ldconfig -p`, each with its ABI: "libmpi.so.40 (Open
// MPI)". Sorted, without duplicates.
std::vector<std::string> parse_loader_libraries(std::string_view text);

// A launcher, with the MPI that it reports.
struct Launcher {
  std::string path;
  std::optional<MpiVersion> version = {};  // nothing if the output is missing or unknown
  bool too_slow = false;
};

// Returns the folders of PATH in order, without duplicates.
std::vector<std::string> folders_of(std::string_view search_path);

// Returns the launchers in these folders. Several names of one program count once.
std::vector<Launcher> find_launchers(const std::vector<std::string>& folders,
                                     std::chrono::milliseconds wait);

std::vector<Finding> judge_mpi(const std::vector<Launcher>& launchers,
                               const std::vector<std::string>& libraries);

}  // namespace huddle::doctor
