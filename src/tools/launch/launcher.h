// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Detects launchers of MPI programs, the MPI that a launcher belongs to, and how variables reach
// the ranks on other nodes. Also finds the programs in a launcher's command line.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/doctor/mpi_installations.h"

namespace huddle::launch {

enum class Passing {
  inherited,       // the ranks get the launcher's environment: aprun, ibrun, jsrun
  x_each_context,  // Open MPI up to 4: -x NAME=VALUE for each program; ":" separates them
  x_once,          // Open MPI 5 and PRRTE: -x before the first program applies to all
  genv,            // MPICH and its family: -genv NAME VALUE applies to all
  export_list,     // Slurm: the whole environment, unless --export lists variables
  unknown,         // unknown MPI: only its environment can be set
};

struct Launcher {
  std::string path;
  std::optional<doctor::MpiVersion> version = {};  // none: unknown, or version_of() determines it
  Passing passing = Passing::unknown;
};

// Returns whether this is a known launcher name. The name alone does not identify the MPI.
bool is_launcher_name(std::string_view name);

// Describes the launcher at `path` by its name and by its output for --version.
Launcher launcher_from(const std::string& path, std::string_view name, std::string_view printed);

// Returns how the launcher in a program file passes variables on, if the file itself shows to which
// MPI it belongs; otherwise `unknown`.
Passing passing_in_file(const std::string& path);

// Returns the launcher at `path`. Identifies it by its own name or by that of a file to which it
// links. Runs it with --version if its file does not show its MPI and running it is safe. Returns
// none for any other program.
std::optional<Launcher> find_launcher(const std::string& path);

// Returns the launcher's MPI and version. Runs it with --version if find_launcher() did not have
// to. Returns none if it is not safe to run it, or if its output is unknown.
std::optional<doctor::MpiVersion> version_of(const Launcher& launcher);

// Returns the number of words after an option that belong to it; 0 for an unknown option or one
// that contains its value. Used to find the program after the options.
std::size_t words_taken(Passing launcher, std::string_view option);

// One of the programs in a launcher's command line, separated by ":", with its options. Positions
// are indices of words.
struct AppContext {
  std::size_t begin = 0;    // start of its options
  std::size_t program = 0;  // its first word; `end` if not found
  std::size_t end = 0;      // after its last word

  bool operator==(const AppContext&) const = default;
};

// Returns whether a word names a program. The values of unknown options hardly ever do.
using IsProgram = std::function<bool(const std::string&)>;

// Returns the programs of a launcher's command line: at least one context. If no program is found,
// all words count as options.
// Requires: words[0] is the launcher.
std::vector<AppContext> contexts_of(const std::vector<std::string>& words, Passing launcher,
                                    const IsProgram& is_program);

}  // namespace huddle::launch
