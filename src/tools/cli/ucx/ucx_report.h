// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The results of `huddle ucx` and `huddle paths` as text and JSON, and the runs behind them.
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

// The effect of UCX settings on an MPI's own collectives: timed without and with them in turns,
// with the traffic of the network devices.
struct UcxRun {
  bench::Point point;
  bench::Estimate estimate;         // speedup with the settings
  bench::Estimate huddle_estimate;  // speedup with huddle and without the settings
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
  bool oversubscribed = false;
  std::vector<UcxRun> runs;
  std::vector<ucx::Omitted> dropped;  // settings that made a point slower
};

// Settings must reach at least this share of the speed without them.
inline constexpr double least_ratio = 0.95;

// A user's program without and with the settings.
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

// Removes settings that make a point slower from `settings`. Throws what Job throws.
UcxRuns run_both_ways(const UcxRunPlan& plan, std::vector<ucx::Setting>& settings,
                      bench::PointWatcher& watcher, const std::atomic<bool>& stop);

struct UcxAdvice {
  ucx::Heading heading;
  ucx::Advice advice;
};

std::string ucx_json(const UcxAdvice& given);

// The transports of messages within the node, now and with huddle's settings.
struct UcxCheck {
  UcxAdvice given;
  std::vector<ucx::Selection> now;
  std::vector<ucx::Selection> advised;
  std::vector<ucx::Device> devices;
  std::vector<std::string> complaints;  // warnings of UCX about huddle's settings
  std::vector<UcxRuns> runs;            // of an MPI's own collectives, by ranks
  std::optional<UcxProgramRuns> program_runs;
};

// A network lane that carries messages within the node.
struct Stray {
  ucx::Lane lane;
  std::string call;
  double from_bytes = 0;
};
std::vector<Stray> strays_of(const std::vector<ucx::Selection>& selections,
                             const std::vector<ucx::Device>& devices);

std::string ucx_check_text(const UcxCheck& check, int columns);
std::string ucx_check_json(const UcxCheck& check);

// A path of a message within the node.
struct Way {
  std::string name;
  double ns = 0;
};

// The path to a peer's memory that UCX chooses with the constants of this version and later ones.
struct Taken {
  std::string from_version;  // for example "1.14"
  std::string way;
  double ns = 0;  // as measured
};

struct PathPoint {
  double bytes = 0;
  std::vector<Way> ways;
  std::size_t fastest = 0;  // index in `ways`
  std::vector<Taken> ucx;   // empty if the machine has none of the paths that UCX chooses from
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
