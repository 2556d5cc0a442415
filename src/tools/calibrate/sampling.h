// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From single timings to a figure one can use: how many samples are taken, for how long, and how
// often a measurement that came out unsteady is taken again.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/arithmetic.h"
#include "model/machine/machine.h"
#include "runtime/memory/copy.h"
#include "tools/calibrate/statistics.h"

namespace huddle::calibrate {

// The one clock of all measurements: monotonic, and the same on every core.

// A double holds nanoseconds since the machine was started for 104 days; after that it has only
// every second one. So times count from here, and the difference is taken in whole numbers.
inline const std::chrono::steady_clock::time_point clock_start = std::chrono::steady_clock::now();

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - clock_start)
      .count();
}

inline constexpr double ns_per_ms = 1e6;

// How long a measurement may take, and whether somebody asked to stop altogether.
class Budget {
 public:
  // `stop` may be set by a signal handler at any time; it has to outlive the budget.
  Budget(double seconds, const std::atomic<bool>& stop)
      : Budget(now_ns() + seconds * ns_per_s, &stop) {}

  bool stopped() const { return stop_->load(std::memory_order_relaxed); }
  bool spent() const { return stopped() || now_ns() >= deadline_ns_; }
  double left_seconds() const { return std::max(0.0, (deadline_ns_ - now_ns()) / ns_per_s); }

  // As much from now on as if nothing had been used up, for whoever heeds the same request to stop.
  Budget renewed(double seconds) const { return {now_ns() + seconds * ns_per_s, stop_}; }

  // A part of what is left, never more than that.
  Budget slice(double seconds) const {
    return {std::min(deadline_ns_, now_ns() + seconds * ns_per_s), stop_};
  }

 private:
  Budget(double deadline_ns, const std::atomic<bool>* stop)
      : deadline_ns_(deadline_ns), stop_(stop) {}

  double deadline_ns_;
  const std::atomic<bool>* stop_;
};

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

// Keeps account of every measurement, and says at the end which are doubtful and which processors
// were to blame: a few sentences, not one for each of hundreds of measurements.
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
