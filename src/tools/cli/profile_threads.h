// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle profile` of a program that is no MPI launcher: which of its threads share pages.
#pragma once

#include <string>
#include <vector>

#include "placement/threads/page_fault.h"
#include "tools/cli/command.h"

namespace huddle::cli {

struct ThreadProfile {
  std::vector<std::string> command;  // not empty
  std::string output;                // where the matrix goes, for `huddle map`; empty: nowhere
  std::string record;                // where all that was seen goes, for `huddle watch --replay`
  threads::Observer observer = threads::Observer::perf;
  bool splits_huge = false;    // pages of the program
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool json = false;
};

// Runs the command to its end; the report goes beside its errors. Returns its exit status, as a
// shell has it.
ExitCode profile_threads(const Context& context, const ThreadProfile& profile);

}  // namespace huddle::cli
