// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle profile` of an MPI launcher: who sends how much to whom.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command.h"

namespace huddle::cli {

struct RankProfile {
  std::vector<std::string> command;  // not empty
  std::string output;                // the file for `huddle map`; empty: huddle-comm.json
  bool dry_run = false;              // only print what would be executed
};

// Runs the command to its end and ends as it does; a finding (exit status 1) where nothing called
// MPI.
ExitCode profile_ranks(const Context& context, const RankProfile& profile);

}  // namespace huddle::cli
