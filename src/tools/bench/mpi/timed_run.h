// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How long a whole run of a program takes.
#pragma once

#include <sys/types.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/order.h"

namespace huddle::bench {

// Starts a program that is measured.
struct Spawned {
  std::string program;                   // a path
  std::vector<std::string> words;        // the first one is what the program takes its name from
  std::vector<std::string> environment;  // NAME=VALUE
};

// As the leader of a process group of its own: Ctrl-C is for us, who then let it end in order.
// Output and errors go where `output` goes. A script without a first line that names its shell is
// given to one. Throws FailureError.
pid_t spawn(Spawned spawned, int input, int output);

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

// A whole program both ways, in turns: what huddle makes of its wall time.
struct SideRuns {
  Spawned command;
  std::vector<double> wall_seconds = {};
  std::vector<double> cpu_seconds = {};  // of all its processes that were waited for
};

struct WholeRuns {
  std::array<SideRuns, side_names.size()> sides;  // by Side; as many runs of one as of the other
  std::string huddle_output = {};  // the end of what the last run with huddle printed
  bool interrupted = false;

  const SideRuns& of(Side side) const { return sides[static_cast<std::size_t>(side)]; }
  SideRuns& of(Side side) { return sides[static_cast<std::size_t>(side)]; }
  std::size_t rounds() const { return of(Side::huddle).wall_seconds.size(); }
  // How many times faster it runs with huddle. pre: at least one round
  Estimate speedup() const;
};

class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  virtual void begin(Side side, std::size_t runs_done) = 0;
};

// A run without huddle that counts for neither, which brings the program's files into memory; then
// in each round one of each, the other one first in every second. A round that is not whole does
// not count. Throws FailureError with what a run printed that did not end with status 0.
WholeRuns compare_whole_runs(Spawned native, Spawned huddle, int rounds, RunWatcher& watcher,
                             const std::atomic<bool>& stop);

}  // namespace huddle::bench
