// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Finds the machine model to use: a named file, the calibrated file for this machine, or this
// machine's topology with generic constants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "model/machine/topology.h"

namespace huddle::machine {

struct LoadedMachine {
  Machine machine;
  std::string path;       // of its file; empty for generic constants
  std::string text = {};  // the contents of that file
};

// Returns documented estimates for a machine without measurements: all figures are `estimated`.
Machine generic_machine(const Topology& topology);
// Returns the estimate for a cache line between two cores that share only this level.
LineCost generic_line(const std::string& level);
// Returns estimates of all kinds of hand-offs between cores with these latencies.
std::vector<HandoffCurve> generic_handoffs(const std::vector<LineCost>& lines);

// Returns the paths where a file for this topology is searched for, in order:
// $XDG_CONFIG_HOME/huddle/machines/<fingerprint>.toml, /etc/huddle/machines/<fingerprint>.toml.
std::vector<std::string> machine_file_candidates(const Topology& topology);
// Returns the first of these paths, to which `huddle calibrate` writes.
std::string user_machine_file(const Topology& topology);

// Returns the folder of data that is installed with huddle, such as "machines" or "papers", with a
// trailing slash; empty if there is none near this library or program.
std::string installed_folder(std::string_view of_what);

// A data file, such as a machine file, and the name by which users refer to it: the file's name
// without ".toml".
struct NamedMachine {
  std::string name;
  std::string path;
};
// Returns the files in the user's, the site's and the installed folder `of_what`, sorted by name.
// If several have the same name, the first folder in this order takes precedence.
std::vector<NamedMachine> named_files(const std::string& of_what);
// Returns the files of named_files() for machine files.
std::vector<NamedMachine> named_machines();
// Returns the file for a value of --machine or HUDDLE_MACHINE: a path is returned unchanged, a name
// is searched for. Throws InputError for an unknown name. Requires: `named` is not empty.
std::string machine_file_named(const std::string& named);

// Returns the folders of the user and the site in which machine files are searched for; they may
// not exist.
std::vector<std::string> machine_folders();

// Loads the machine. `named` is a value of --machine or HUDDLE_MACHINE: a name, a path, or empty to
// search for a file for `this_machine`.
LoadedMachine load_machine(const std::string& named, const Topology& this_machine);

// Returns whether the named file or, for an empty name, any file of the user or the site contains a
// measured network, even for another machine. Needs no topology.
bool has_network_file(const std::string& named);

}  // namespace huddle::machine
