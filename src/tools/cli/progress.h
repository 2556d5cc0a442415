// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Progress of long work on `err`: a bar where that is a terminal, one line for each step elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "tools/cli/console.h"

namespace huddle::cli {

class Progress {
 public:
  Progress(const Console& console, std::size_t steps);
  ~Progress();  // takes the bar away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin_step(std::string_view name);
  // `share` of all the work is done.
  void update(double share);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double share);

  const Console& console_;
  std::size_t steps_;
  std::size_t step_ = 0;
  std::string name_;
  Clock::time_point start_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

// One line of at most `columns`: bar, share, name, time gone and time left (negative: not known).
std::string progress_line(double share, std::string_view name, double gone_seconds,
                          double left_seconds, int columns, bool unicode);

}  // namespace huddle::cli
