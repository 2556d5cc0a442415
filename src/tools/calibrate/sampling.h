// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From single timings to a figure one can use: how many samples are taken, for how long, and how
// often a measurement that came out unsteady is taken again.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/memory/copy_kernels.h"
#include "tools/calibrate/budget.h"
#include "tools/calibrate/verdict.h"

namespace huddle::calibrate {

// Space between two blocks of a sample, so that the reader's prefetcher, which stays within a page,
// does not fetch the next block.
inline constexpr std::size_t block_distance_bytes = 4096 + memory::line_bytes;

// An unsteady measurement is taken again at most this often; then the steadiest stands, flagged.
inline constexpr int most_repetitions = 2;

// Taken even when the time is over, so that a machine that is busy gives a doubtful figure and not
// none; only a request to stop prevents it.
inline constexpr std::size_t samples_in_any_case = 3;

// When a series is long enough.
struct Extent {
  std::size_t least = 32;    // samples, unless the budget ends first
  std::size_t most = 65536;  // samples: what a short series of tiny ones keeps in memory
  double seconds = 0.02;     // several time slices of the scheduler, so that a neighbour shows
};

// Tells a sampling loop when to end. Looks at the clock, so once a sample, not once a round trip.
class Progress {
 public:
  Progress(const Extent& extent, const Budget& budget)
      : extent_(extent), slice_(budget.slice(extent.seconds)), budget_(budget) {}
  bool wants_more(std::size_t taken) const {
    if (taken >= extent_.most || budget_.stopped()) return false;
    if (taken < samples_in_any_case) return true;
    if (budget_.spent()) return false;
    return taken < extent_.least || !slice_.spent();
  }

 private:
  Extent extent_;
  Budget slice_;
  Budget budget_;
};

// One attempt: samples in the order in which they were taken, and what befell the threads.
struct Samples {
  std::vector<double> ns;
  // Where more cores did the same at the same time: the samples of each further one.
  std::vector<std::vector<double>> further_ns;
  std::vector<ThreadUse> threads;
};

struct Measured {
  Summary summary;
  Verdict verdict;
  std::vector<ThreadUse> threads;
  int attempts = 0;
  bool usable() const { return summary.count > 0; }
};

// Cores that do the same at the same time are judged each on its own: that a fast and a slow core
// differ is no unrest. The figure is the slowest core's, since a collective ends with its last.
Summary summary_of(const Samples& samples);

// Attempts until one is steady, repetitions are used up or the budget is spent; the steadiest is
// kept.
Measured measure(const Tolerance& tolerance, const Budget& budget,
                 const std::function<Samples(const Budget&)>& attempt);

}  // namespace huddle::calibrate
