// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Locates the part of huddle that is written in Python (python/), and a Python that can run it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

struct FrontEnd {
  std::string python;  // the interpreter
  std::string folder;  // folder of the package; empty: Python finds it itself
};

// Returns the front end of the program at this path: next to it in an installation or a build,
// otherwise installed by pip. Uses the first python3 in `search_path` (a PATH) with all required
// modules. Throws FailureError that names missing packages.
FrontEnd find_front_end(const std::string& program, std::string_view search_path);

// Returns the command that calls main() of a module of the front end with these arguments.
std::vector<std::string> front_end_command(const FrontEnd& front_end, const std::string& module,
                                           const std::vector<std::string>& arguments);

}  // namespace huddle::launch
