// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The MPIs of this machine, by their launchers.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/finding.h"
#include "tools/doctor/mpi_version.h"

namespace huddle::doctor {

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
