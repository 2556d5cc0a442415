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

// Locates the Python front end for the program at this path: beside the program, in an installation
// or a build folder, or else a package that pip has installed. Uses the first python3 in
// `search_path` (a PATH) with all required modules. Throws FailureError that names missing
// packages.
FrontEnd find_front_end(const std::string& program, std::string_view search_path);

// Returns the command that calls main() of a module of the front end with these arguments.
std::vector<std::string> front_end_command(const FrontEnd& front_end, const std::string& module,
                                           const std::vector<std::string>& arguments);

}  // namespace huddle::launch
