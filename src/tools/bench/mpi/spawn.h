// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Starts a program that is measured.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace huddle::bench {

struct Spawned {
  std::string program;                   // a path
  std::vector<std::string> words;        // the first one is what the program takes its name from
  std::vector<std::string> environment;  // NAME=VALUE
};

// As the leader of a process group of its own: Ctrl-C is for us, who then let it end in order.
// Output and errors go where `output` goes. A script without a first line that names its shell is
// given to one. Throws FailureError.
pid_t spawn(Spawned spawned, int input, int output);

}  // namespace huddle::bench
