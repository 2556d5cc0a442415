// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle run --compare`: runs the program with and without huddle in turns.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/mpi/timed_run.h"
#include "tools/cli/command.h"
#include "tools/cli/run/extra_runs.h"
#include "tools/launch/launch_plan.h"

namespace huddle::cli {

// Options of compare_runs().
struct Comparison {
  int rounds = 0;
  bool as_json = false;
  // `huddle run` and the options of its command line that the environment cannot contain.
  std::vector<std::string> starter = {};
};
// Compares the plan's command with the request's, from which the plan was made. Throws what
// compare_whole_runs() throws. Does not return after an interrupt.
ExitCode compare_runs(const Context& context, const launch::Request& request,
                      const launch::Plan& plan, const Comparison& comparison);

// Returns what huddle's own lines in a program's output report about handled calls, without
// "huddle: "; empty if nothing.
std::string taken_line(const std::string& output);

// All results of a comparison.
struct ComparedRuns {
  bench::WholeRuns runs = {};  // at least one round
  Extras extras = {};
  // True if all ranks on this machine are descendants of the command. Otherwise their CPU time
  // cannot be distinguished from that of other programs.
  bool knows_its_processes = true;
  std::string taken = {};  // see taken_line()
};

enum class Conclusion { faster, slower, too_few_runs, too_short };

// The conclusion, and a sentence for users with the reason and, if the runs were too few or too
// short, the remedy.
struct RunVerdict {
  Conclusion conclusion = Conclusion::too_short;
  std::string sentence;
};
RunVerdict verdict_on(const ComparedRuns& compared);

// Returns all times and the conclusion as text.
std::string compared_text(const ComparedRuns& compared);

// JSON of `huddle run`: the command that would be executed, and the comparison of runs.
inline constexpr int run_json_schema = 1;

std::string run_json(const launch::Plan& plan);
std::string compared_json(const ComparedRuns& compared);

}  // namespace huddle::cli
