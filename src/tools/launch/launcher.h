// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Is a command a launcher of MPI programs, whose, and how do variables reach the ranks it starts
// on other nodes?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/doctor/mpi_version.h"

namespace huddle::launch {

enum class Passing {
  inherited,       // the ranks get the launcher's own environment: aprun, ibrun, jsrun
  x_each_context,  // Open MPI up to 4: -x NAME=VALUE, for each program between the words ":"
  x_once,          // Open MPI 5 and PRRTE: -x before the first program counts for all
  genv,            // MPICH and its family: -genv NAME VALUE counts for all
  export_list,     // Slurm: the whole environment, unless --export names what is let through
  unknown,         // it does not say whose it is: its environment is all that we can set
};

struct Launcher {
  std::string path;
  std::optional<doctor::MpiVersion> version = {};  // nothing: it was not asked, or did not say
  Passing passing = Passing::unknown;
};

// What launchers are called: the first to be tried only, since names do not say whose they are.
bool is_launcher_name(std::string_view name);

// How a launcher of this name passes variables on that printed this when asked for its version.
Launcher launcher_from(const std::string& path, std::string_view name, std::string_view printed);

// The launcher that `path` is, by its own name or that of a link on the way: asked for its version
// where that is safe. Nothing for any other program.
std::optional<Launcher> find_launcher(const std::string& path);

}  // namespace huddle::launch
