// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads fabric files: TOML with a schema version (docs/machine-file.md), or Slurm's topology.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/fabric/fabric.h"
#include "model/machine/locate.h"
#include "model/machine/machine.h"

namespace huddle::fabric {

inline constexpr int fabric_file_schema = 1;

// Parses a fabric file or a topology.conf, which differ in the first word. Throws InputError
// "NAME:LINE: error".
Fabric parse_fabric(std::string_view text, const std::string& name);

// A fabric, the machine model of its nodes, and the network of that machine that it uses.
struct Cluster {
  Fabric fabric;
  machine::Machine machine;
  machine::Network network;
  std::string path;
};

// Reads a fabric and its machine. A `machine_path` that is not empty overrides the machine that the
// fabric names. Throws InputError if a file is invalid or the machine or its network is missing.
Cluster load_cluster(const std::string& path, const std::string& machine_path);

// Returns the fabric files of the user, of the site and those installed with huddle, sorted by
// name.
std::vector<machine::NamedMachine> named_fabrics();

// Returns the file for an argument of --fabric. A path (with a slash or ending in .toml or .conf)
// or "-" is returned unchanged; a name is searched for. Throws InputError for an unknown name.
std::string fabric_file_named(const std::string& named);

}  // namespace huddle::fabric
