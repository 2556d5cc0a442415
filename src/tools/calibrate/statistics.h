// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Statistics of a series of timings: median, spread, and all signs of interference.
// docs/design/machine-model.md explains the choice of figures.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace huddle::calibrate {

// A sample above this multiple of the median is an outlier: other work interfered with it.
inline constexpr double outlier_factor = 2;
// Number of parts whose medians are compared to detect drift.
inline constexpr std::size_t drift_parts = 3;
// A shorter series is not divided, because the median of a smaller part would be noise.
inline constexpr std::size_t least_samples_a_part = 4;

struct Summary {
  std::size_t count = 0;
  double median = 0;
  double spread = 0;  // relative: standard deviation estimated from the median absolute deviation
  std::size_t outliers = 0;  // samples beyond outlier_factor * median
  double worst = 0;          // largest sample
  double lost = 0;           // fraction of the total time beyond outlier_factor * median
  double drift = 0;          // largest relative deviation of a part's median
};

// Summarizes samples in the order in which they were taken. All zero if there are none.
Summary summarize(std::span<const double> samples);

// Combines two series so that neither hides the flaws of the other: the larger of each figure, and
// the smaller count.
Summary slowest_and_worst(const Summary& a, const Summary& b);

// Returns the slope of the regression line. Returns nothing if all x are equal.
// Requires: x.size() == y.size().
std::optional<double> slope(std::span<const double> x, std::span<const double> y);

// Scheduling of a measuring thread that did not sleep voluntarily.
struct ThreadUse {
  int pu = 0;
  double wall_ns = 0;
  double cpu_ns = 0;       // time that the thread ran
  long switched_away = 0;  // involuntary context switches
};

// Returns the fraction of the time in which something else ran on the thread's hardware thread.
double taken_away(const ThreadUse& use);

// Limits of a steady measurement. Noise of 2 % must pass in practically all of a few hundred
// measurements, so that each limit is at least five standard deviations away. Real interference,
// such as another program that takes half of the time, far exceeds the limits.
struct Tolerance {
  // Five times the noise of a good machine.
  double spread = 0.10;
  // A timer tick costs 0.03 % of the time; one preemption in 20 ms costs 5 % or more.
  double lost = 0.05;
  // With 2 % noise, the median of a third of 12 samples deviates by 1.3 %.
  double drift = 0.15;
  // Interrupts and kernel threads take less than 1 % of a core; a busy loop takes half of it.
  double taken_away = 0.05;
};
inline constexpr Tolerance usual_tolerance;

// System calls involve the scheduler, whose execution paths vary from call to call.
inline constexpr Tolerance tolerance_of_system_calls = {
    .spread = 0.30, .lost = 0.20, .drift = 0.30, .taken_away = 0.05};

struct Verdict {
  std::vector<std::string> reasons;  // empty if steady
  double badness = 0;                // largest ratio of a figure to its limit, to rank repetitions
  bool steady() const { return reasons.empty(); }
};

Verdict judge(const Summary& summary, std::span<const ThreadUse> threads,
              const Tolerance& tolerance);

// Returns a note if the latency of a cache line differs between start and end of a run; empty
// otherwise.
std::string change_of_line(double before_ns, double after_ns);

}  // namespace huddle::calibrate
