// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One point measured: an MPI's own operation against huddle's, in turns, until the ratio is known
// well enough or the time for it is over.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "tools/bench/harness/points.h"
#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/job.h"

namespace huddle::bench {

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

}  // namespace huddle::bench
