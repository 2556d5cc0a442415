// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which machine the model speaks of: a file that was named, a calibrated file that was found, or
// this machine's topology with generic constants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "model/machine/topology.h"

namespace huddle::machine {

struct LoadedMachine {
  Machine machine;
  std::string path;       // the file it came from; empty: generic constants
  std::string text = {};  // of that file, as it was read
};

// Documented guesses for a machine that nobody has measured: everything in it is `estimated`.
Machine generic_machine(const Topology& topology);

// Where a file for this topology is looked for, the first that exists wins:
// $XDG_CONFIG_HOME/huddle/machines/<fingerprint>.toml, /etc/huddle/machines/<fingerprint>.toml.
std::vector<std::string> machine_file_candidates(const Topology& topology);
// Where `huddle calibrate` writes for its user: the first of them.
std::string user_machine_file(const Topology& topology);

// Where data lie that come with huddle: "machines", "papers". Ends with a slash; empty where
// nothing of the kind is installed around this code.
std::string installed_folder(std::string_view of_what);

// A machine file, or a file of another kind, that is found by its name: the file's without ".toml".
struct NamedMachine {
  std::string name;
  std::string path;
};
// Returns the files in the user's, the site's and the installed folder `of_what`, sorted by name;
// of each name the first.
std::vector<NamedMachine> named_files(const std::string& of_what);
// The user's, the site's, and those that are installed with huddle, by name; of one name the first.
std::vector<NamedMachine> named_machines();
// The file that --machine or HUDDLE_MACHINE gave: a path as it is, a name where it is found. Throws
// InputError for a name that nobody has. pre: it is not empty.
std::string machine_file_named(const std::string& named);

// `named` is what --machine or HUDDLE_MACHINE gave: a name, a path, or empty to search.
LoadedMachine load_machine(const std::string& named, const Topology& this_machine);

// Whether the file that is named, or one in the folders that are searched, has a network that was
// measured, whatever machine it is of: a look that costs no topology.
bool has_network_file(const std::string& named);

}  // namespace huddle::machine
