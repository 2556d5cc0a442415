// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What settings of UCX make of an MPI's own collectives: the same ones without and with them, in
// turns, and what network devices carry meanwhile.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "tools/bench/mpi/find_mpi.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/bench/mpi/whole_runs.h"
#include "tools/ucx/advice.h"
#include "tools/ucx/traffic.h"

namespace huddle::cli {

struct UcxRun {
  bench::Point point;
  bench::Estimate estimate;         // how many times faster with the settings
  bench::Estimate huddle_estimate;  // and how many times with huddle, without them
  double before_ns = 0;
  double after_ns = 0;
  double huddle_ns = 0;
  ucx::Traffic before;  // in all batches of that side
  ucx::Traffic after;
};

struct UcxRuns {
  std::string mpi;
  std::string version;
  int ranks = 0;
  bool crowded = false;
  std::vector<UcxRun> runs;
  std::vector<ucx::Omitted> dropped;  // settings that made something slower
};

// Slower than this, as a share of the speed without them, settings may make nothing.
inline constexpr double least_ratio = 0.95;

// A program of the user's, as it is and with the settings.
struct UcxProgramRuns {
  bench::WholeRuns runs;  // `native` is without the settings, `huddle` with them
  ucx::Traffic before;    // in all runs of that side
  ucx::Traffic after;
};
UcxProgramRuns run_program_both_ways(const std::vector<std::string>& command,
                                     const std::vector<ucx::Setting>& settings, int rounds,
                                     const std::atomic<bool>& stop);

struct UcxRunPlan {
  bench::Mpi mpi;
  bench::JobOptions job_options;
  std::vector<bench::Point> points;
  bench::Effort effort;
};

// Takes those out of `settings` that make something slower. Throws what jobs throw.
UcxRuns run_both_ways(const UcxRunPlan& plan, std::vector<ucx::Setting>& settings,
                      bench::PointWatcher& watcher, const std::atomic<bool>& stop);

}  // namespace huddle::cli
