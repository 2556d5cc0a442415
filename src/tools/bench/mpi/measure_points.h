// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A run of `huddle bench`: measures all points with huddle and with one MPI, or with the fastest of
// several.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "tools/bench/harness/points.h"
#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/mpi_job.h"

namespace huddle::bench {

// The time limit of a point and the precision at which it is complete.
struct Effort {
  double point_seconds = 3;
  double half_width = 0.02;  // of the interval, relative to the ratio
};

// The bar: huddle must reach at least this share of the MPI's speed.
inline constexpr double least_ratio = 0.9;

struct PointResult {
  Point point = {};
  int calls = 1;      // per stretch
  std::string rival;  // the MPI whose operation was measured
  PairedSamples samples = {};
  Estimate estimate = {};
  double native_ns = 0;
  double huddle_ns = 0;
  // Calls that fell back to the MPI; 0 if only few did, so that their times could be compared.
  unsigned long passed = 0;
  bool stable = false;  // the interval is as narrow as requested
  // With several MPIs: the median of each while the rival was selected, in the order of the MPIs.
  std::vector<double> selection_ns = {};
  // The algorithm that huddle ran, then the best of each other algorithm; empty if unknown.
  std::vector<Choice> choices = {};
  // If the interval was entirely below the bar: repetitions of the point.
  std::vector<Estimate> again = {};

  bool below_bar() const;
};

// Measures one point with alternating batches of the rival's own operation and of huddle under
// `host`, until the ratio is precise enough or the time limit is reached. If `rival` and `host` are
// the same job, each order measures both sides. Throws what Job::carry_out() throws.
// Requires: the timing is not cold (here and in batch_of).
PointResult compare(Job& rival, Job& host, const Point& point, Timing timing, const Effort& effort);

// Returns the order of one batch of a point on both sides. Short calls are timed in series.
// Requires: the timing is not cold.
Order order_of(const Point& point, Timing timing, bool oversubscribed);

// Returns the time per call of stretches of `calls` calls.
std::vector<double> each_call(std::vector<double> ns, int calls);

// With fewer batches, an interval is not meaningful.
inline constexpr std::size_t least_batches = 8;

// Measures one batch of one side. Returns the time per call of each stretch, in ns.
std::vector<double> batch_of(Side side, Job& job, const Point& point, Timing timing);

// Compares the first calls after the start of a job. Each job measures one side and is then ended.
// Throws what Job throws.
PointResult compare_cold(const Mpi& mpi, const JobOptions& job_options, const Point& point,
                         int calls, const Effort& effort, const std::atomic<bool>& stop);

struct MpiPlan {
  std::vector<Mpi> mpis;  // not empty
  std::size_t under = 0;  // index of the MPI under which huddle runs
  JobOptions job_options;
  std::vector<Point> points;
  Timing timing = Timing::apart;
  int cold_calls = 1;  // per start, if the timing is cold, which allows only one MPI
  Effort effort;
  // Bounds the total time by the number of points times Effort::point_seconds. Time that a point
  // does not use is available to later points. Selecting the rival and repetitions count as well.
  bool is_bounded = false;
};

struct MpiReport {
  std::vector<Mpi> mpis;              // those that started
  std::vector<std::string> versions;  // as reported by each
  std::size_t under = 0;
  bool oversubscribed = false;
  std::vector<PointResult> results;
  std::vector<std::string> notes;  // sentences for the user
  bool interrupted = false;
};

class PointWatcher {
 public:
  virtual ~PointWatcher() = default;
  virtual void begin(const Point& point, std::size_t number) = 0;
};

// Measures all points. Once `stop` is set, returns the points that are complete. Throws
// FailureError if the MPI under which huddle runs cannot be started, or if a job fails.
MpiReport measure_points(const MpiPlan& plan, PointWatcher& watcher, const std::atomic<bool>& stop);

}  // namespace huddle::bench
