// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A command that huddle waits for, in its own place: same terminal, same process group.
#pragma once

#include <string>
#include <vector>

namespace huddle::launch {

// How it ended: exactly one is not 0, or it was fine.
struct Ended {
  int status = 0;
  int signal = 0;
};

// Runs `program` to its end. Ctrl-C reaches it from the terminal and does nothing to us; what else
// asks us to end (SIGTERM, SIGHUP) is handed on to it. Threads that are started before have to
// block these signals. Throws FailureError where it cannot be started.
Ended run_to_end(const std::string& program, std::vector<std::string> words,
                 std::vector<std::string> environment);

}  // namespace huddle::launch
