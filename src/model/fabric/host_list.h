// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Names of nodes as Slurm writes them: "n[0-3,7],login", "rack[1-2]n[00-15]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::fabric {

// Throws InputError without a place where it is none, or names more than `most`.
std::vector<std::string> parse_host_list(std::string_view text, std::size_t most);

}  // namespace huddle::fabric
