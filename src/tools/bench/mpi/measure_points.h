// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A whole run of `huddle bench`: all points, against one MPI or the best of several.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "tools/bench/harness/points.h"
#include "tools/bench/mpi/compare.h"
#include "tools/bench/mpi/find_mpi.h"
#include "tools/bench/mpi/job.h"

namespace huddle::bench {

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
