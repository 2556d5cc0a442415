// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Locates the libraries that are preloaded, and combines them with what the user preloads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// The variable that the loader reads.
inline constexpr std::string_view preload_name = "LD_PRELOAD";

// The variable that identifies the program that `huddle run` becomes, unless that is a launcher:
// "PID PATH". The stub reads it (src/mpi/stub/preload.c).
inline constexpr std::string_view program_variable = "_HUDDLE_PROGRAM";

// The folder in which ranks store their part of a profile. The stub and the back end of the
// profiling library read it (src/placement/profile).
inline constexpr std::string_view parts_variable = "_HUDDLE_PROFILE";
// The address to which ranks send their part from hosts that do not see that folder.
inline constexpr std::string_view collector_variable = "_HUDDLE_PROFILE_TO";

// Why a library is preloaded: to run collectives, or to count messages.
enum class Purpose { collectives, profile };

struct Library {
  std::string folder;   // the searched folder
  std::string stub;     // name of the file to preload
  std::string preload;  // that file; empty: missing
  std::string heap;     // library that allocates ranks' arrays in shared memory; empty: missing
  std::string threads;  // library for observing threads; empty: missing
};

// Finds the libraries that belong to the program at this path, in an installation or a build.
Library find_library(const std::string& program, Purpose purpose = Purpose::collectives);

// Returns `theirs` (an LD_PRELOAD: files separated by spaces and colons) followed by `ours`, a list
// of the same form. Tools that intercept MPI calls thus stay in front of huddle, which is the MPI
// for them. Omits libraries of huddle in `theirs`, also those of another installation, because two
// of them would intercept the same calls.
std::string joined_preload(const std::string& ours, std::string_view theirs);

// Returns the libraries of another installation that joined_preload() omits.
std::vector<std::string> replaced_files(const std::string& ours, std::string_view theirs);

// Returns the list with `more` at its end.
std::string appended_preload(std::string_view list, const std::string& more);

// Returns false for paths with spaces or colons, at which the loader splits LD_PRELOAD.
bool can_be_preloaded(std::string_view path);

}  // namespace huddle::launch
