// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The command and environment that `huddle run` or `huddle profile` is going to execute. Planning
// has no side effects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/settings/settings.h"
#include "tools/launch/environment.h"
#include "tools/launch/launcher.h"
#include "tools/launch/preload.h"

namespace huddle::launch {

struct Request {
  std::vector<std::string> command;  // not empty
  std::vector<settings::Resolved> settings;
  std::vector<std::string> environment;  // "NAME=value" lines
  std::string own_program;               // path of huddle itself
  // Gives the ranks a shared heap. Decided by the setting or, if that is "auto", by measurements of
  // this machine.
  bool with_heap = false;
  bool with_threads = false;  // observe its threads, with or without MPI
  // Errors in the settings have been reported, so ranks do not repeat them.
  bool has_reported_settings = false;
  Purpose purpose = Purpose::collectives;
  std::string parts_folder = {};  // folder for the ranks' parts of a profile
  std::string collector = {};
};

struct Plan {
  std::string program = {};               // the file to execute
  std::vector<std::string> command = {};  // its words, including added options of the launcher
  std::vector<Variable> changes = {};     // variables to set in its environment
  std::optional<Launcher> launcher = {};
  std::vector<std::string> notes = {};     // sentences for the user; the command runs nevertheless
  std::vector<std::string> details = {};   // sentences that are printed only on request
  std::vector<std::string> programs = {};  // what the launcher starts, or the program itself
};

// Plans the command. Throws UsageError if its first word names no program.
Plan make_plan(const Request& request);

// Returns the request's command with `words` in place of each program and its arguments; a launcher
// and its options stay. Returns none if a launcher's program was not found.
// Requires: `plan` was made from the request.
std::vector<std::string> with_program_replaced(const Request& request, const Plan& plan,
                                               const std::vector<std::string>& words);

// Returns whether this process is a rank other than the first. Only the first rank prints notes.
bool is_later_rank(const std::vector<std::string>& environment);

// Returns the environment after the plan's changes.
std::vector<std::string> changed_environment(const std::vector<std::string>& environment,
                                             const std::vector<Variable>& changes);

// Returns a shell command line that does the same as the plan.
std::string shell_line(const Plan& plan);

}  // namespace huddle::launch
