// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle run --compare`: runs the program with and without huddle in turns.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/mpi/timed_run.h"
#include "tools/cli/command.h"
#include "tools/launch/launch_plan.h"

namespace huddle::cli {

// Options of compare_runs().
struct Comparison {
  int rounds = 0;
  bool as_json = false;
  // The words before COMMAND that start it with huddle; empty: as in the plan.
  std::vector<std::string> starter = {};
};
// Compares the plan's command with the request's, from which the plan was made. Throws what
// compare_whole_runs() throws. Does not return after an interrupt.
ExitCode compare_runs(const Context& context, const launch::Request& request,
                      const launch::Plan& plan, const Comparison& comparison);

// Returns what huddle's own lines in a program's output report about handled calls, without
// "huddle: "; empty if nothing.
std::string taken_line(const std::string& output);

// Returns both times and the conclusion as text.
// Requires: at least one round.
std::string compared_text(const bench::WholeRuns& runs);

// JSON of `huddle run`: the command that would be executed, and the comparison of runs.
inline constexpr int run_json_schema = 1;

std::string run_json(const launch::Plan& plan);

// Requires: at least one round.
std::string compared_json(const bench::WholeRuns& runs, const std::string& taken);

}  // namespace huddle::cli
