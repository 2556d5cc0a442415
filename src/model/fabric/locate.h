// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fabric files by name: those of the user, of the site, and those that are installed with huddle.
#pragma once

#include <string>
#include <vector>

#include "model/machine/locate.h"

namespace huddle::fabric {

// Returns the fabrics that have a name here, sorted by it.
std::vector<machine::NamedMachine> named_fabrics();

// Returns the file that --fabric names: a path (it has a slash or ends in .toml or .conf) or "-" as
// it is, a name where it is found. Throws InputError for an unknown name.
std::string fabric_file_named(const std::string& named);

}  // namespace huddle::fabric
