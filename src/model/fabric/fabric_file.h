// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The fabric file: TOML with a schema version (docs/machine-file.md), or Slurm's topology.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/fabric/fabric.h"
#include "model/machine/locate.h"
#include "model/machine/machine.h"

namespace huddle::fabric {

inline constexpr int fabric_file_schema = 1;

// Either form, told apart by its first word. Throws InputError "NAME:LINE: what is wrong".
Fabric parse_fabric(std::string_view text, const std::string& name);

// A fabric, and the machine that its nodes are.
struct Cluster {
  Fabric fabric;
  machine::Machine machine;
  machine::Network network;
  std::string path;
};

// `machine_path`, where it is not empty, wins over the machine that the fabric names. Throws
// InputError where a file is unsound, no machine is named, or it has not that network.
Cluster load_cluster(const std::string& path, const std::string& machine_path);

// Fabric files by name: those of the user, of the site, and those that are installed with huddle.

// Returns the fabrics that have a name here, sorted by it.
std::vector<machine::NamedMachine> named_fabrics();

// Returns the file that --fabric names: a path (it has a slash or ends in .toml or .conf) or "-" as
// it is, a name where it is found. Throws InputError for an unknown name.
std::string fabric_file_named(const std::string& named);

}  // namespace huddle::fabric
