// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The kinds of `huddle profile`: ranks, threads, and the accuracy of the latter.
#pragma once

#include <string>
#include <vector>

#include "placement/threads/accuracy.h"
#include "placement/threads/page_faults.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// `huddle profile` of an MPI launcher: counts the messages between ranks.
struct RankProfile {
  std::vector<std::string> command;  // not empty
  std::string output;                // the file for `huddle map`; empty: huddle-comm.json
  bool dry_run = false;              // only print what would be executed
};

// Runs the command to its end and returns its exit status; 1 if nothing called MPI.
ExitCode profile_ranks(const Context& context, const RankProfile& profile);

// `huddle profile` of any other program: measures which of its threads share pages.
struct ThreadProfile {
  std::vector<std::string> command;  // not empty
  std::string output;                // file of the matrix, for `huddle map`; empty: none
  std::string record;                // file of all observations, for `huddle watch --replay`
  threads::Observer observer = threads::Observer::perf;
  bool splits_huge = false;    // pages of the program
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool json = false;
};

// Runs the command and prints the report on `err`. Returns its exit status as a shell would.
ExitCode profile_threads(const Context& context, const ThreadProfile& profile);

// `huddle profile --accuracy`: compares observations with the known sharing of programs.
struct AccuracyQuestion {
  std::string pattern;  // empty: all
  int seconds = 3;      // per pattern
  threads::Observer observer = threads::Observer::perf;
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool json = false;
};

// Returns exit status 1 if a pattern was not observed well enough.
ExitCode profile_accuracy(const Context& context, const AccuracyQuestion& question);

// Returns which expectation of the pattern was not met; empty if all were.
std::string shortfall(const threads::Accuracy& accuracy);

std::string accuracy_text(const std::vector<threads::Accuracy>& all, const Console& console);
std::string accuracy_json(const std::vector<threads::Accuracy>& all);

}  // namespace huddle::cli
