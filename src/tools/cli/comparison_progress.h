// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Comparison and their shares, as a bar that moves.
#pragma once

#include <cstddef>
#include <string>

#include "tools/bench/engine/run_comparison.h"
#include "tools/cli/progress.h"

namespace huddle::cli {

class ComparisonProgress : public bench::ComparisonWatcher {
 public:
  ComparisonProgress(const Console& console, std::size_t comparisons)
      : progress_(console, comparisons), comparisons_(comparisons) {}

  void begin(const std::string& name) {
    progress_.begin_step(name);
    advance(0);
  }
  void end() { ++ended_; }
  void advance(double share_of_comparison) override {
    progress_.update((static_cast<double>(ended_) + share_of_comparison) /
                     static_cast<double>(comparisons_));
  }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::size_t comparisons_;
  std::size_t ended_ = 0;
};

}  // namespace huddle::cli
