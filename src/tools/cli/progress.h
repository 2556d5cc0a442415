// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Progress of long work on `err`: a bar if that is a terminal, otherwise one line per step. Also
// interrupts of such work.
#pragma once

#include <signal.h>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "common/text.h"
#include "tools/bench/engine/run_comparison.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/plan.h"
#include "tools/cli/console.h"

namespace huddle::cli {

class Progress {
 public:
  Progress(const Console& console, std::size_t steps);
  ~Progress();  // removes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin_step(std::string_view name);
  // Shows that `share` of all the work is done.
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

// Returns a line of at most `columns`: bar, share, name, elapsed and remaining time (< 0: unknown).
std::string progress_line(double share, std::string_view name, double gone_seconds,
                          double left_seconds, int columns, bool unicode);

// Handles SIGINT, SIGTERM and SIGHUP as requests to end in an orderly way. While an object exists,
// the first signal sets the flag and a second one kills as usual. A signal that the caller ignores
// stays ignored: a background job of a script must not end by a Ctrl-C for another job.
// Requires: only one object exists at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Returns the flag, which is global because signal handlers can access only globals.
  const std::atomic<bool>& requested() const;
  std::string_view signal_name() const;  // Requires: requested()
  // Ends the program with the received signal, so that a shell sees it.
  // Requires: requested()
  [[noreturn]] void die() const;

 private:
  static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};  // previous actions
};

// Shows the steps of a calibration in a progress bar.
class MeasureProgress : public calibrate::Watcher {
 public:
  // `why` is a prefix for the name of every step. Keeps a reference to the plan.
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
  double before_ = 0;  // seconds of the completed steps
};

// Shows comparisons in a progress bar.
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

// Shows the points of a measurement in a progress bar.
class PointProgress : public bench::PointWatcher {
 public:
  PointProgress(const Console& console, std::size_t points)
      : progress_(console, points), points_(points) {}

  void begin(const bench::Point& point, std::size_t number) override {
    const std::string size =
        point.bytes == 0 ? "" : " of " + size_text(static_cast<double>(point.bytes));
    progress_.begin_step(std::string(name(point.operation)) + size);
    progress_.update(static_cast<double>(number) / static_cast<double>(points_));
  }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::size_t points_;
};

}  // namespace huddle::cli
