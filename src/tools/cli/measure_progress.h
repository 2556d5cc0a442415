// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The steps of a calibration and their shares, as a bar that moves.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/plan.h"
#include "tools/cli/progress.h"

namespace huddle::cli {

class MeasureProgress : public calibrate::Watcher {
 public:
  // `why` stands before the name of every step. Keeps a reference to the plan.
  MeasureProgress(const Console& console, const calibrate::Plan& plan, std::string why = {})
      : progress_(console, plan.steps.size()), plan_(plan), why_(std::move(why)) {}

  void begin_step(const calibrate::Plan& plan, std::size_t step) override {
    step_ = step;
    before_ = 0;
    for (std::size_t i = 0; i < step; ++i) before_ += plan.steps[i].expected_seconds();
    progress_.begin_step(why_ + plan.steps[step].name);
    advance(0);
  }
  void advance(double share_of_step) override {
    const double here = plan_.steps[step_].expected_seconds() * share_of_step;
    progress_.update((before_ + here) / plan_.expected_seconds());
  }
  std::size_t step() const { return step_; }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  const calibrate::Plan& plan_;
  std::string why_;
  std::size_t step_ = 0;
  double before_ = 0;  // seconds of the steps that are done
};

}  // namespace huddle::cli
