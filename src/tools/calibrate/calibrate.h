// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Measures this machine by a plan. The result is a machine that can be written to a file.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/calibrate/plan.h"

namespace huddle::calibrate {

// Told what is going on; called between measurements only, so that drawing disturbs none.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin_step(const Plan& plan, std::size_t step) = 0;
  virtual void advance(double share_of_step) = 0;
};

struct Outcome {
  bool stopped = false;  // the machine is then worth nothing
  machine::Machine machine;
  std::vector<std::string> notes;  // what could not be had here, and why
  int measurements = 0;
  int doubtful = 0;  // of them: unsteady, or without time left
  double seconds = 0;

  // More of it is chance than is not.
  bool is_mostly_doubtful() const { return 2 * doubtful > measurements; }
};

// pre: the plan was made for this machine. Ends soon after `stop` is set.
Outcome calibrate(const machine::Topology& topology, const Plan& plan, Watcher& watcher,
                  const std::atomic<bool>& stop);

// True where the machine holds more than this plan would measure: a full run's figures against a
// quick one's, or more processors.
bool is_fuller(const machine::Machine& machine, const Plan& plan);

}  // namespace huddle::calibrate
