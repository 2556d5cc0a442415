// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle run --compare`: the program with huddle and without, in turns.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/mpi/timed_run.h"
#include "tools/cli/command.h"
#include "tools/launch/launch_plan.h"

namespace huddle::cli {

// The plan's command against the request's, which it was made from. Throws what
// compare_whole_runs() throws; does not return after an interrupt.
struct Comparison {
  int rounds = 0;
  bool as_json = false;
  // The words before COMMAND that start it with huddle; empty: as the plan has it.
  std::vector<std::string> starter = {};
};
ExitCode compare_runs(const Context& context, const launch::Request& request,
                      const launch::Plan& plan, const Comparison& comparison);

// What huddle's own lines in a program's output say was taken, without "huddle: "; empty: nothing.
std::string taken_line(const std::string& output);

// For people: both times and what follows from them. pre: at least one round
std::string compared_text(const bench::WholeRuns& runs);

// What `huddle run` would execute, and how runs with it and without compare: for programs.
inline constexpr int run_json_schema = 1;

std::string run_json(const launch::Plan& plan);

// pre: at least one round
std::string compared_json(const bench::WholeRuns& runs, const std::string& taken);

}  // namespace huddle::cli
