// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/whole_runs.h"

#include <fmt/format.h>

#include <utility>

#include "common/error.h"
#include "tools/bench/mpi/job.h"
#include "tools/bench/mpi/timed_run.h"

namespace huddle::bench {
namespace {

TimedRun good_run(const Spawned& command, Side side, const std::atomic<bool>& stop) {
  TimedRun run = timed_run(command, stop);
  if (run.status == 0) return run;
  throw FailureError(
      fmt::format("a run {} huddle ended with status {}, and no times are taken of what fails{}{}",
                  side == Side::huddle ? "with" : "without", run.status,
                  run.output.empty() ? "" : ":\n", run.output));
}

}  // namespace

Estimate WholeRuns::speedup() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds(); ++i) {
    ratios.push_back(of(Side::native).wall_seconds[i] / of(Side::huddle).wall_seconds[i]);
  }
  return estimate(ratios);
}

WholeRuns compare_whole_runs(Spawned native, Spawned huddle, int rounds, RunWatcher& watcher,
                             const std::atomic<bool>& stop) {
  WholeRuns runs{.sides = {SideRuns{std::move(native)}, SideRuns{std::move(huddle)}}};
  std::size_t done = 0;
  const auto run = [&](Side side) {
    watcher.begin(side, done++);
    return good_run(runs.of(side).command, side, stop);
  };
  const auto keep = [&](Side side, const TimedRun& one) {
    runs.of(side).wall_seconds.push_back(one.wall_seconds);
    runs.of(side).cpu_seconds.push_back(one.cpu_seconds);
  };
  try {
    run(Side::native);
    for (int round = 0; round < rounds; ++round) {
      const bool huddle_first = round % 2 == 0;
      const Side first = huddle_first ? Side::huddle : Side::native;
      const Side second = huddle_first ? Side::native : Side::huddle;
      const TimedRun one = run(first);
      const TimedRun other = run(second);
      keep(first, one);
      keep(second, other);
      runs.huddle_output = huddle_first ? one.output : other.output;
    }
  } catch (const Stopped&) {
    runs.interrupted = true;
  }
  return runs;
}

}  // namespace huddle::bench
