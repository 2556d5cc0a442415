// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A whole program both ways, in turns: what huddle makes of its wall time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/order.h"
#include "tools/bench/mpi/spawn.h"

namespace huddle::bench {

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
