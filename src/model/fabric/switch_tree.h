// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From switches that name what is below them, in any order, to the tree of a fabric. Both forms of
// file that name switches (a fabric file, Slurm's topology.conf) come through here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/fabric/fabric.h"

namespace huddle::fabric {

struct NamedSwitch {
  std::string name;
  std::vector<std::string> nodes;     // of a leaf: names of nodes
  std::vector<std::string> switches;  // of any other: names of switches
  Links links = {};
};

// Sets `switches` and `switch_of_node`; nodes are numbered as they come. `refuse(i, message)` has
// to throw: entry i cannot be.
void grow_tree(const std::vector<NamedSwitch>& entries, Fabric& fabric,
               const std::function<void(std::size_t, const std::string&)>& refuse);

}  // namespace huddle::fabric
