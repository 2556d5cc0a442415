// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A whole run of `huddle bench`: all points, against one MPI or the best of several.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "tools/bench/harness/points.h"
#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/mpi_job.h"

namespace huddle::bench {

// One point measured: an MPI's own operation against huddle's, in turns, until the ratio is known
// well enough or the time for it is over.

// How much time a point may take, and when it has had enough.
struct Effort {
  double point_seconds = 3;
  double half_width = 0.02;  // of the interval, as a share of the ratio
};

// Slower than this, as a share of the MPI's speed, is what huddle must not be.
inline constexpr double least_ratio = 0.9;

struct PointResult {
  Point point = {};
  int calls = 1;      // in a stretch
  std::string rival;  // whose own operation it was
  PairedSamples samples = {};
  Estimate estimate = {};
  double native_ns = 0;
  double huddle_ns = 0;
  unsigned long passed = 0;  // calls that huddle left to the MPI
  bool stable = false;       // the interval is as narrow as asked for
  // Of several MPIs: each one's own median while the rival was chosen, in their order.
  std::vector<double> selection_ns = {};
  // What huddle ran, then the best of each other algorithm; none where that is not known.
  std::vector<Choice> choices = {};
  // Where the interval lay wholly below the bar: the same point measured again.
  std::vector<Estimate> again = {};

  bool below_bar() const;
};

// rival and host may be one job, which then measures both sides in one go. Throws what jobs throw.
// pre, of both: the timing is not cold.
PointResult compare(Job& rival, Job& host, const Point& point, Timing timing, const Effort& effort);

// One side alone, one batch: nanoseconds a call.
std::vector<double> batch_of(Side side, Job& job, const Point& point, Timing timing);

// The first so many calls of jobs just started, each of one side: what is compared are starts.
// Throws what jobs throw.
PointResult compare_cold(const Mpi& mpi, const JobOptions& job_options, const Point& point,
                         int calls, const Effort& effort, const std::atomic<bool>& stop);

struct MpiPlan {
  std::vector<Mpi> mpis;  // not empty
  std::size_t under = 0;  // the one whose processes huddle runs in
  JobOptions job_options;
  std::vector<Point> points;
  Timing timing = Timing::apart;
  int cold_calls = 1;  // of each start, where the timing is cold; then there is one MPI
  Effort effort;
  // Whether all points together may take no longer than the effort gives to so many: what one
  // leaves over is for those after it, and all that a point takes counts.
  bool is_bounded = false;
};

struct MpiReport {
  std::vector<Mpi> mpis;              // those that came up
  std::vector<std::string> versions;  // what each says it is
  std::size_t under = 0;
  bool crowded = false;
  std::vector<PointResult> results;
  std::vector<std::string> notes;  // sentences for the user
  bool interrupted = false;
};

class PointWatcher {
 public:
  virtual ~PointWatcher() = default;
  virtual void begin(const Point& point, std::size_t number) = 0;
};

// What was measured until `stop` is kept. Throws FailureError.
MpiReport measure_points(const MpiPlan& plan, PointWatcher& watcher, const std::atomic<bool>& stop);

}  // namespace huddle::bench
