// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Contests and their shares, as a bar that moves.
#pragma once

#include <cstddef>
#include <string>

#include "cli/progress.h"
#include "contest/hold.h"

namespace huddle::cli {

class ContestProgress : public contest::Watcher {
 public:
  ContestProgress(const Console& console, std::size_t contests)
      : progress_(console, contests), contests_(contests) {}

  void begin(const std::string& name) {
    progress_.begin_step(name);
    advance(0);
  }
  void end() { ++ended_; }
  void advance(double share_of_contest) override {
    progress_.update((static_cast<double>(ended_) + share_of_contest) /
                     static_cast<double>(contests_));
  }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::size_t contests_;
  std::size_t ended_ = 0;
};

}  // namespace huddle::cli
