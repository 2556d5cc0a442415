// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs a calibration plan on this machine. The result is a machine model, which can be written to a
// machine file.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/calibrate/plan.h"

namespace huddle::calibrate {

// Receives progress. Called between measurements only, so that drawing a progress bar disturbs
// none.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin_step(const Plan& plan, std::size_t step) = 0;
  virtual void advance(double share_of_step) = 0;
};

struct Outcome {
  bool stopped = false;  // `machine` is then unusable
  machine::Machine machine;
  std::vector<std::string> notes;  // what could not be measured on this machine, and why
  int measurements = 0;
  int doubtful = 0;  // number of measurements that were unsteady or had no time left
  double seconds = 0;

  // Returns whether most measurements are doubtful.
  bool is_mostly_doubtful() const { return 2 * doubtful > measurements; }
};

// Runs the plan. Returns soon after `stop` is set.
// Requires: the plan was made for this machine.
Outcome calibrate(const machine::Topology& topology, const Plan& plan, Watcher& watcher,
                  const std::atomic<bool>& stop);

// Returns whether `machine` contains more than this plan would measure: results of a full run
// instead of a quick one, or more hardware threads.
bool contains_more(const machine::Machine& machine, const Plan& plan);

}  // namespace huddle::calibrate
