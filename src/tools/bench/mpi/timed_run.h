// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How long a whole run of a program takes.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "tools/bench/mpi/spawn.h"

namespace huddle::bench {

struct TimedRun {
  double wall_seconds = 0;  // from before its start until it has ended
  double cpu_seconds = 0;   // of all processes below it that somebody has waited for
  int status = 0;           // as a shell tells it: 128 + n after signal n
  std::string output;       // the last of what it printed and said, 64 KiB at most
};

// Runs it once. It reads our own input from the beginning where that is a file, and has none
// elsewhere: each run gets the same. What a run leaves behind in the background is not waited for.
// Throws FailureError where it cannot be started, and Stopped. watch: is given what it prints and
// says, as it comes in; it may be empty.
using OutputWatch = std::function<void(std::string_view more)>;
TimedRun timed_run(const Spawned& command, const std::atomic<bool>& stop,
                   const OutputWatch& watch = {});

}  // namespace huddle::bench
