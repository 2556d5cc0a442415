// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Is a command a launcher of MPI programs, whose, and how do variables reach the ranks it starts
// on other nodes?
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

// Which options of a launcher take words after them, so that the program behind them can be found.

// How many words the option takes after itself; 0 for one that is not known, or holds its value.
std::size_t words_taken(Passing launcher, std::string_view option);

// The words behind a launcher's name: one or more programs with their options, ":" between them.

// One program and the launcher's options for it, as places among the words.
struct AppContext {
  std::size_t begin = 0;    // where its options begin
  std::size_t program = 0;  // its first word; `end` where it was not found
  std::size_t end = 0;      // behind its last word

  bool operator==(const AppContext&) const = default;
};

// Says whether a word can be started: an option that this file does not know may take a word, and
// that one is hardly ever a program.
using IsProgram = std::function<bool(const std::string&)>;

// pre: words[0] is the launcher. At least one; where no program is found, all is taken for options.
std::vector<AppContext> contexts_of(const std::vector<std::string>& words, Passing launcher,
                                    const IsProgram& is_program);

}  // namespace huddle::launch
