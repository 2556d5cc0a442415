// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string>
#include <vector>

#include "placement/threads/accuracy.h"
#include "placement/threads/page_faults.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// `huddle profile` of an MPI launcher: who sends how much to whom.
struct RankProfile {
  std::vector<std::string> command;  // not empty
  std::string output;                // the file for `huddle map`; empty: huddle-comm.json
  bool dry_run = false;              // only print what would be executed
};

// Runs the command to its end and ends as it does; a finding (exit status 1) where nothing called
// MPI.
ExitCode profile_ranks(const Context& context, const RankProfile& profile);

// `huddle profile` of a program that is no MPI launcher: which of its threads share pages.
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

// `huddle profile --accuracy`: programs whose sharing is known are watched, and what is seen is
// held against that.
struct AccuracyQuestion {
  std::string pattern;  // empty: all
  int seconds = 3;      // of each
  threads::Observer observer = threads::Observer::perf;
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool json = false;
};

// A finding (exit status 1) where a pattern was not seen well enough.
ExitCode profile_accuracy(const Context& context, const AccuracyQuestion& question);

// What is to be expected of a pattern: empty where it was met, else what was not.
std::string shortfall(const threads::Accuracy& accuracy);

std::string accuracy_text(const std::vector<threads::Accuracy>& all, const Console& console);
std::string accuracy_json(const std::vector<threads::Accuracy>& all);

}  // namespace huddle::cli
