// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a series of timings says: its middle, its width, and every way in which it was disturbed.
// docs/design/machine-model.md explains the choice of figures.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace huddle::calibrate {

// A sample this far beyond the median did not time what was to be timed.
inline constexpr double outlier_factor = 2;
// The series is cut in so many parts to see whether it drifts...
inline constexpr std::size_t drift_parts = 3;
// ...and not cut when a part would have fewer samples than this: their median would be noise.
inline constexpr std::size_t least_samples_a_part = 4;

struct Summary {
  std::size_t count = 0;
  double median = 0;
  double spread = 0;  // relative: what one standard deviation would be, from the median deviation
  std::size_t outliers = 0;  // samples beyond outlier_factor medians
  double worst = 0;          // the largest sample
  double lost = 0;           // share of the whole time that lies beyond outlier_factor medians
  double drift = 0;          // how far a part's median lies from the whole's, relative
};

// The samples in the order in which they were taken. Empty: all zero.
Summary summarize(std::span<const double> samples);

// Two series of which neither may hide what is wrong with the other: the larger of each figure, and
// the count of the shorter.
Summary slowest_and_worst(const Summary& a, const Summary& b);

// How much y grows with x: the slope of the straight line through all points. Nothing where fewer
// than two x differ. pre: as many of one as of the other.
std::optional<double> slope(std::span<const double> x, std::span<const double> y);

// Whether a measurement came out steady, and if not, why, in words that name the core.

// What the system did to a measuring thread that never slept of its own will.
struct ThreadUse {
  int pu = 0;
  double wall_ns = 0;
  double cpu_ns = 0;       // of it, what the thread really ran
  long switched_away = 0;  // involuntary context switches
};

// The share of a thread's time in which something else ran on its processor.
double taken_away(const ThreadUse& use);

// How much is too much. Noise of 2 % must pass in practically every one of a few hundred
// measurements, so every limit lies at least five of its standard deviations off; what spoils a
// figure (a busy neighbour takes half of the time) lies far beyond the limits.
struct Tolerance {
  // Five times the noise of a good machine.
  double spread = 0.10;
  // A timer tick costs 0.03 % of the time; one preemption in 20 ms costs 5 % and more.
  double lost = 0.05;
  // The median of a third of 12 samples strays by 1.3 % under 2 % noise.
  double drift = 0.15;
  // Interrupts and kernel threads take below 1 % of a core; a busy loop takes half of it.
  double taken_away = 0.05;
};
inline constexpr Tolerance usual_tolerance;

// System calls go through the scheduler, whose own paths differ from call to call.
inline constexpr Tolerance tolerance_of_system_calls = {
    .spread = 0.30, .lost = 0.20, .drift = 0.30, .taken_away = 0.05};

struct Verdict {
  std::vector<std::string> reasons;  // empty: steady
  double badness = 0;                // to rank repetitions: the largest excess over a limit
  bool steady() const { return reasons.empty(); }
};

Verdict judge(const Summary& summary, std::span<const ThreadUse> threads,
              const Tolerance& tolerance);

// What to say of a line that was measured at the start and at the end of a run; empty where both
// agree.
std::string change_of_line(double before_ns, double after_ns);

}  // namespace huddle::calibrate
