// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How things were said in the last release. This one understands that, and says how they are said
// now; the next one will not.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/console.h"

namespace huddle::cli {

// The words of a command line, whose command is at `command`, as they are spelled today. Notes what
// was spelled otherwise.
std::vector<std::string> spelled_today(std::vector<std::string> words, std::size_t command,
                                       const Console& console);

}  // namespace huddle::cli
