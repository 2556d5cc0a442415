// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Keeps account of every measurement, and says at the end which are doubtful and which processors
// were to blame: a few sentences, not one for each of hundreds of measurements.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

class DoubtBook {
 public:
  // One measurement of a step: "copy, 1 core alone" and "64K".
  void record(const std::string& step, const std::string& detail, const Measured& measured);
  // Anything else that is doubtful about a step.
  void add(const std::string& step, const std::string& why);

  std::vector<machine::Doubt> doubts() const;
  // How many measurements there are, steady or not.
  int measurements() const { return measurements_; }
  // How many of them are not, or had no time left.
  int doubtful() const;

 private:
  struct Page {
    std::string step;
    int measurements = 0;
    int unsteady = 0;
    int without_samples = 0;
    std::string worst_detail;
    Measured worst;
    std::vector<std::string> remarks;
  };
  struct Blame {
    int measurements = 0;
    int disturbed = 0;
    double most = 0;
  };

  Page& page(const std::string& step);
  static std::string why(const Page& page);

  std::vector<Page> pages_;
  std::map<int, Blame> blame_;  // by processor
  int measurements_ = 0;
};

}  // namespace huddle::calibrate
