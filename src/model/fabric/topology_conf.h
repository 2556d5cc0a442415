// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Slurm's topology.conf (its plugin topology/tree) as a fabric: which node hangs from which switch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/fabric/fabric.h"

namespace huddle::fabric {

// Names of nodes as Slurm writes them: "n[0-3,7],login", "rack[1-2]n[00-15]".

// Throws InputError without a place where it is none, or names more than `most`.
std::vector<std::string> parse_host_list(std::string_view text, std::size_t most);

// The file says nothing of rates and latencies, so that `links` of every switch stay at 0 GB/s:
// "as wide as all nodes below together". Throws InputError "NAME:LINE: what is wrong".
Fabric parse_topology_conf(std::string_view text, const std::string& name);

// True where a text is rather this than TOML: its first word that is no comment is SwitchName.
bool looks_like_topology_conf(std::string_view text);

}  // namespace huddle::fabric
