// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle bench --guidelines`: measures whether an MPI and huddle keep performance guidelines.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tools/bench/harness/guideline.h"
#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/bench/mpi/mpi_job.h"

namespace huddle::bench {

// The two times of a guideline for one side. Both lists have one batch per round.
struct GuidelineSamples {
  std::vector<std::vector<double>> call_ns;
  std::vector<std::vector<double>> mockup_ns;  // multiplied by the repetitions of the guideline

  // Returns the call's time divided by the mock-up's in each round.
  std::vector<double> ratios() const;
};

// The finding for one side: the MPI or huddle.
struct GuidelineSide {
  GuidelineSamples samples = {};
  Estimate estimate = {};
  // Set if `estimate` is a violation: the estimate from new samples.
  std::optional<Estimate> again = std::nullopt;
  double call_ns = 0;
  double mockup_ns = 0;
  unsigned long passed = 0;  // calls of huddle that fell back to the MPI
  GuidelineVerdict verdict = GuidelineVerdict::open;
};

struct GuidelineResult {
  GuidelinePoint point = {};
  std::array<GuidelineSide, side_names.size()> sides = {};  // by Side

  const GuidelineSide& of(Side side) const { return sides[static_cast<std::size_t>(side)]; }
  GuidelineSide& of(Side side) { return sides[static_cast<std::size_t>(side)]; }
};

struct GuidelinePlan {
  Mpi mpi;
  JobOptions job_options;
  std::vector<GuidelinePoint> points;
  Timing timing = Timing::apart;
  Effort effort;
  double tolerance = usual_tolerance;
};

struct GuidelineReport {
  std::string mpi;
  std::string version;
  bool oversubscribed = false;
  std::vector<GuidelineResult> results;
  bool interrupted = false;

  std::size_t count(Side side, GuidelineVerdict verdict) const;
};

// Measures one guideline for both sides. Each round has four batches, of the call and of its
// mock-up by the MPI and by huddle, in random order. Ends once both verdicts are known or the
// intervals are narrow, or after Effort::point_seconds. A violation is measured a second time in
// the same way. Throws what Job::carry_out() throws.
GuidelineResult measure_guideline(Job& job, const GuidelinePoint& point, const GuidelinePlan& plan,
                                  std::mt19937_64& random);

class GuidelineWatcher {
 public:
  virtual ~GuidelineWatcher() = default;
  virtual void begin(const GuidelinePoint& point, std::size_t number) = 0;
};

// Measures all points. Once `stop` is set, returns the points that are complete. Throws
// FailureError if the job cannot be started or fails.
GuidelineReport measure_guidelines(const GuidelinePlan& plan, GuidelineWatcher& watcher,
                                   const std::atomic<bool>& stop);

}  // namespace huddle::bench
