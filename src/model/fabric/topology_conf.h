// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads Slurm's topology.conf (plugin topology/tree), which assigns nodes to switches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/fabric/fabric.h"

namespace huddle::fabric {

// Expands a Slurm host list, such as "n[0-3,7],login" or "rack[1-2]n[00-15]". Throws InputError,
// without file and line, if the syntax is wrong or there are more than `most` names.
std::vector<std::string> parse_host_list(std::string_view text, std::size_t most);

// Parses a topology.conf. The format has no bandwidths, so the `links` of all switches get 0 GB/s,
// which stands for the total bandwidth of all nodes below. Throws InputError "NAME:LINE: error".
Fabric parse_topology_conf(std::string_view text, const std::string& name);

// Returns whether a text is a topology.conf: its first word after comments is SwitchName.
bool looks_like_topology_conf(std::string_view text);

}  // namespace huddle::fabric
