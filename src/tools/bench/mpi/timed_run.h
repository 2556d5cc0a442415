// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Measures whole runs of a program, with and without huddle.
#pragma once

#include <sys/types.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/order.h"

namespace huddle::bench {

// A command that is measured.
struct Spawned {
  std::string program;                   // a path
  std::vector<std::string> words;        // the first one is argv[0]
  std::vector<std::string> environment;  // NAME=VALUE
};

// Starts the command as leader of its own process group, so that Ctrl-C reaches only huddle, which
// then ends the group in an orderly way. `input` becomes its standard input, and `output` its
// standard output and standard error. A script without an interpreter line is run by a shell. The
// command gets SIGTERM when the calling thread ends, so that it does not outlive a killed huddle.
// Throws FailureError.
pid_t spawn(Spawned spawned, int input, int output, bool ignores_child_signal = false);

struct TimedRun {
  double wall_seconds = 0;  // from before its start until it has ended
  double cpu_seconds = 0;   // of all its processes that have been reaped
  int status = 0;           // as shells report it: 128 + n after signal n
  std::string output;       // the last 64 KiB of its output and errors
};

// Runs the command once. If huddle's standard input is a file, each run reads it from the
// beginning; otherwise the input is empty. Thus all runs read the same input. Does not wait for
// processes that the run leaves in the background. `watch`, if not empty, gets the output as it
// arrives. Throws Stopped, or FailureError if the command cannot be started.
using OutputWatch = std::function<void(std::string_view more)>;
TimedRun timed_run(const Spawned& command, const std::atomic<bool>& stop,
                   const OutputWatch& watch = {});

// Alternating runs of a whole program without and with huddle, to compare the wall times.
struct SideRuns {
  Spawned command;
  std::vector<double> wall_seconds = {};
  std::vector<double> cpu_seconds = {};  // of all its processes that have been reaped
  // What all programs of this machine used meanwhile; empty if the kernel does not report it.
  std::vector<double> machine_seconds = {};
  std::vector<double> stolen_seconds = {};  // by other virtual machines of the host
};

// Load on this machine during the runs, in hardware threads on average.
struct MachineLoad {
  int pus = 0;        // hardware threads of this machine
  double others = 0;  // used by processes that do not belong to the runs
  double stolen = 0;  // used by other virtual machines of the host
  // Whether the two together exceed the tolerance of a measurement.
  bool is_busy = false;
};

struct WholeRuns {
  std::array<SideRuns, side_names.size()> sides;  // by Side; both have the same number of runs
  std::string huddle_output = {};                 // the end of the last output with huddle
  bool interrupted = false;
  int pus = 0;  // hardware threads of this machine; 0: unknown

  const SideRuns& of(Side side) const { return sides[static_cast<std::size_t>(side)]; }
  SideRuns& of(Side side) { return sides[static_cast<std::size_t>(side)]; }
  std::size_t rounds() const { return of(Side::huddle).wall_seconds.size(); }
  // Returns the speedup of the program with huddle.
  // Requires: at least one round.
  Estimate speedup() const;
  // Returns the load that other work caused. Returns nothing if the kernel does not report CPU
  // times or the runs were too short. Processes of a run that are not its descendants count as
  // others.
  std::optional<MachineLoad> load() const;
};

class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  virtual void begin(Side side, std::size_t runs_done) = 0;
  // Called after each complete round. May throw Stopped, which ends the comparison.
  virtual void end_round(const WholeRuns&) {}
};

// Compares the wall times of a program without and with huddle. The first run, without huddle, is
// not counted: it loads the program's files into memory. Each round then has one run per side, in
// an order that alternates. Incomplete rounds are dropped. Throws FailureError with the output of a
// run whose exit status is not 0.
WholeRuns compare_whole_runs(Spawned native, Spawned huddle, int rounds, RunWatcher& watcher,
                             const std::atomic<bool>& stop);

}  // namespace huddle::bench
