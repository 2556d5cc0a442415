// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Carries out the steps of a plan. A step has a time limit, each of its measurements a share of it.
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

// What has come out so far.
struct Findings {
  machine::Machine machine;
  std::map<Pair, Summary> lines;       // a line each, by pair of processors (smaller first)
  std::string sampling;                // how pairs were chosen
  std::optional<double> near_copy_ns;  // a copy out of the first core's own memory
  DoubtBook doubts;
  std::vector<std::string> notes;
};

class StepRun {
 public:
  using Advance = std::function<void(double share)>;

  // Keeps references. The step's time starts now.
  StepRun(const Step& step, Crew& crew, const std::atomic<bool>& stop, const Advance& advance)
      : step_(step), crew_(crew), budget_(step.limit_seconds, stop), advance_(advance) {}

  // Throws FailureError where the system does not play along.
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
  // Says so where a figure that stands for memory may be a cache's.
  void doubt_cache(Findings& findings, const std::string& what, std::size_t bytes);
  void far_copy(Findings& findings, machine::MemoryCost& cost);

  // The next measurement of the step, with its share of the time that is left.
  Measured measure_next(Findings& findings, const std::string& detail, const Tolerance& tolerance,
                        const Attempt& attempt);
  // One measurement for each size of the step.
  machine::Curve curve(Findings& findings, const std::vector<std::size_t>& sizes,
                       const std::string& what, const Tolerance& tolerance,
                       const std::function<Samples(std::size_t bytes, const Budget&)>& attempt);
  // Before the first measurement: what set-up took beyond its time is not theirs to lose.
  void make_up_for_setup();
  Budget next_share();

  const Step& step_;
  Crew& crew_;
  Budget budget_;
  const Advance& advance_;
  std::size_t done_ = 0;  // measurements
};

}  // namespace huddle::calibrate
