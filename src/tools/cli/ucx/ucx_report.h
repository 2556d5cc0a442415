// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle ucx` has to say, and its two ways of saying it.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/mpi/measure_points.h"
#include "tools/bench/mpi/mpi_job.h"
#include "tools/bench/mpi/timed_run.h"
#include "tools/cli/console.h"
#include "tools/ucx/advice.h"
#include "tools/ucx/library.h"

namespace huddle::cli {

// What settings of UCX make of an MPI's own collectives: the same ones without and with them, in
// turns, and what network devices carry meanwhile.
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

struct UcxAdvice {
  ucx::Heading heading;
  ucx::Advice advice;
};

std::string ucx_json(const UcxAdvice& given);

// Over what messages inside the node go, now and with huddle's settings.
struct UcxCheck {
  UcxAdvice given;
  std::vector<ucx::Selection> now;
  std::vector<ucx::Selection> advised;
  std::vector<ucx::Device> devices;
  std::vector<std::string> complaints;  // of UCX, about huddle's settings
  std::vector<UcxRuns> runs;            // of an MPI's own collectives, by ranks
  std::optional<UcxProgramRuns> program_runs;
};

// Lanes over a network, of messages inside the node.
struct Stray {
  ucx::Lane lane;
  std::string call;
  double from_bytes = 0;
};
std::vector<Stray> strays_of(const std::vector<ucx::Selection>& selections,
                             const std::vector<ucx::Device>& devices);

std::string ucx_check_text(const UcxCheck& check, int columns);
std::string ucx_check_json(const UcxCheck& check);

// What `huddle paths` has to say, and its two ways of saying it.

// One way of a message inside the node.
struct Way {
  std::string name;
  double ns = 0;
};

// The path into a peer's memory that UCX takes by the constants that it has from this version on.
struct Taken {
  std::string from_version;  // "1.14"
  std::string way;
  double ns = 0;  // as measured
};

struct PathPoint {
  double bytes = 0;
  std::vector<Way> ways;
  std::size_t fastest = 0;  // among them
  std::vector<Taken> ucx;   // none where the machine has no path that UCX chooses among
};

struct Paths {
  std::string machine;
  std::string machine_file;
  bool is_measured = false;
  int ranks = 1;
  std::vector<PathPoint> points;
};

std::string paths_text(const Paths& paths, int columns);
std::string paths_json(const Paths& paths);

}  // namespace huddle::cli
