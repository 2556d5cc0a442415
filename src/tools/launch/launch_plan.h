// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle run` or `huddle profile` is going to execute, and with which environment: all of it
// decided, nothing done.
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
  std::string own_program;               // where huddle itself lies
  // Whether ranks get a shared heap: what its setting says or, where that leaves it open, what was
  // measured here.
  bool with_heap = false;
  bool with_threads = false;  // its threads are watched, MPI or none
  // Mistakes in the settings were reported: ranks do not repeat them.
  bool has_reported_settings = false;
  Purpose purpose = Purpose::collectives;
  std::string parts_folder = {};  // of a profile
  std::string collector = {};
};

struct Plan {
  std::string program = {};               // the file to execute
  std::vector<std::string> command = {};  // its words, with the launcher's options added
  std::vector<Variable> changes = {};     // what is set in its environment
  std::optional<Launcher> launcher = {};
  std::vector<std::string> notes = {};  // sentences for the user; the command runs nevertheless
};

// Throws UsageError where there is nothing to execute.
Plan make_plan(const Request& request);

// Below a launcher every rank comes here: the first one speaks for all.
bool is_later_rank(const std::vector<std::string>& environment);

// The environment with the plan's changes made.
std::vector<std::string> changed_environment(const std::vector<std::string>& environment,
                                             const std::vector<Variable>& changes);

// One line for a shell that does what the plan does.
std::string shell_line(const Plan& plan);

}  // namespace huddle::launch
