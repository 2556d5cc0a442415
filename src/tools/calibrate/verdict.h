// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whether a measurement came out steady, and if not, why, in words that name the core.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/calibrate/statistics.h"

namespace huddle::calibrate {

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
