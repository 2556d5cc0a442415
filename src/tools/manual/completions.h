// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What shells propose behind a tabulator, from the tables that --help is made of.
#pragma once

#include <string>

#include "tools/cli/interface.h"

namespace huddle::manual {

// Each is the text of a file that the shell reads by itself where it is installed.
std::string bash_completion(const cli::ProgramInterface& all);
std::string zsh_completion(const cli::ProgramInterface& all);
std::string fish_completion(const cli::ProgramInterface& all);

}  // namespace huddle::manual
