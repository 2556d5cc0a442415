// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The part of huddle that is written in Python (python/): where it lies, and which Python can run
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

struct FrontEnd {
  std::string python;  // the interpreter
  std::string folder;  // where the package lies; empty: where Python itself looks
};

// The front end that belongs to the program at this path (beside it in an installation or a build,
// else one that pip has installed), run by the first python3 of `search_path` (a PATH) that has
// what it needs. Throws FailureError that says what to install.
FrontEnd find_front_end(const std::string& program, std::string_view search_path);

// The command that calls main() of a module of the front end with these arguments.
std::vector<std::string> front_end_command(const FrontEnd& front_end, const std::string& module,
                                           const std::vector<std::string>& arguments);

}  // namespace huddle::launch
