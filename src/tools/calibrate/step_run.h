// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Executes the steps of a plan. A step has a time limit, which its measurements share.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "runtime/memory/copy.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/line_probe.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/plan.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

class CopyProbe;
class HandoffProbe;
struct CopyMethodCurve;

// The results of all steps so far.
struct Findings {
  machine::Machine machine;
  // Latencies with a cache line per side, by pair of hardware threads (the smaller OS index first).
  std::map<Pair, Summary> lines;
  std::string sampling;                // how the pairs were chosen
  std::optional<double> near_copy_ns;  // time of a copy from the reference core's own NUMA node
  MeasurementLog doubts;
  std::vector<std::string> notes;
};

class StepRun {
 public:
  using Advance = std::function<void(double share)>;

  // Keeps references to its arguments. The time limit of the step starts now.
  StepRun(const Step& step, MeasuringThreads& crew, const std::atomic<bool>& stop,
          const Advance& advance)
      : step_(step), crew_(crew), budget_(step.limit_seconds, stop), advance_(advance) {}

  // Throws FailureError if the system refuses something that the step needs.
  void carry_out(Findings& findings);

 private:
  using Attempt = std::function<Samples(const Budget&)>;

  Measured measure_line(Findings& findings, const Pair& pair, LineUse use);
  void line_pairs(Findings& findings);
  void line_clusters(Findings& findings);
  void line_level(Findings& findings);
  void line_again(Findings& findings);
  void flags(Findings& findings);
  void copy(Findings& findings);
  machine::CopyCurve copy_curve(Findings& findings, CopyProbe& probe, memory::CopyKernel kernel);
  void handoff(Findings& findings);
  void memory(Findings& findings);
  void path(Findings& findings);
  void system(Findings& findings);
  void arrays(Findings& findings);

  void handoff_curve(Findings& findings, HandoffProbe& probe, const CopyMethodCurve& of_method);
  // Adds a doubt if a figure for memory may be that of a cache.
  void doubt_cache(Findings& findings, const std::string& what, std::size_t bytes);
  void far_copy(Findings& findings, machine::MemoryCost& cost);

  // Runs the next measurement of the step with its share of the remaining time.
  Measured measure_next(Findings& findings, const std::string& detail, const Tolerance& tolerance,
                        const Attempt& attempt);
  // Runs one measurement per size.
  machine::Curve curve(Findings& findings, const std::vector<std::size_t>& sizes,
                       const std::string& what, const Tolerance& tolerance,
                       const std::function<Samples(std::size_t bytes, const Budget&)>& attempt);
  // Extends the budget before the first measurement if the set-up took longer than planned.
  void make_up_for_setup();
  Budget next_share();

  const Step& step_;
  MeasuringThreads& crew_;
  Budget budget_;
  const Advance& advance_;
  std::size_t done_ = 0;  // number of measurements
};

}  // namespace huddle::calibrate
