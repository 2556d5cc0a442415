// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the preloaded library lies, and how it joins what a user preloads already.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// Name of the variable that the loader reads.
inline constexpr std::string_view preload_name = "LD_PRELOAD";

// Tells the preloaded library which process and which file the program is that `huddle run`
// becomes, unless that is a launcher: "PID PATH". The stub reads it (src/mpi/stub/preload.c).
inline constexpr std::string_view program_variable = "_HUDDLE_PROGRAM";

// Tells the library of `huddle profile` where ranks keep what they counted. That one's stub and
// back end read it (src/placement/profile).
inline constexpr std::string_view parts_variable = "_HUDDLE_PROFILE";
// And where they hand them over on hosts that do not see that folder.
inline constexpr std::string_view collector_variable = "_HUDDLE_PROFILE_TO";

// What a library is preloaded for: to take collectives over, or to count who sends to whom.
enum class Purpose { collectives, profile };

struct Library {
  std::string folder;   // that was searched
  std::string stub;     // the name of the file to preload
  std::string preload;  // that file; empty: it is not there
  std::string heap;     // what makes ranks' arrays shared ones, likewise
  std::string threads;  // what lets threads be watched, likewise
};

// The library that belongs to the program at this path: beside it in an installation or a build.
Library find_library(const std::string& program, Purpose purpose = Purpose::collectives);

// What is in `theirs` (an LD_PRELOAD: files between spaces and colons), then `ours`, which is such
// a list as well: tools that lie in front of the MPI stay in front of huddle, which is to them what
// the MPI was.
std::string joined_preload(const std::string& ours, std::string_view theirs);

// The loader splits LD_PRELOAD at spaces and colons, with no way to quote them.
bool can_be_preloaded(std::string_view path);

}  // namespace huddle::launch
