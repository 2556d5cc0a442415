// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Sampling: how many samples a measurement takes and for how long, how often an unsteady
// measurement is repeated, and the record of doubtful measurements.
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

// Start of all measurements. Times are relative to it, because a double holds exact nanoseconds for
// only 104 days of uptime. The clock is monotonic and the same on every core.
inline const std::chrono::steady_clock::time_point clock_start = std::chrono::steady_clock::now();

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - clock_start)
      .count();
}

inline constexpr double ns_per_ms = 1e6;

// Time limit of a measurement, and a flag that stops all measurements.
class Budget {
 public:
  // `stop` may be set by a signal handler at any time. It must outlive the budget.
  Budget(double seconds, const std::atomic<bool>& stop)
      : Budget(now_ns() + seconds * ns_per_s, &stop) {}

  bool stopped() const { return stop_->load(std::memory_order_relaxed); }
  bool spent() const { return stopped() || now_ns() >= deadline_ns_; }
  double left_seconds() const { return std::max(0.0, (deadline_ns_ - now_ns()) / ns_per_s); }

  // Returns a new budget that starts now, with the same stop flag.
  Budget renewed(double seconds) const { return {now_ns() + seconds * ns_per_s, stop_}; }

  // Returns a budget of `seconds`, but at most what is left.
  Budget slice(double seconds) const {
    return {std::min(deadline_ns_, now_ns() + seconds * ns_per_s), stop_};
  }

 private:
  Budget(double deadline_ns, const std::atomic<bool>* stop)
      : deadline_ns_(deadline_ns), stop_(stop) {}

  double deadline_ns_;
  const std::atomic<bool>* stop_;
};

// Distance between two blocks of a sample: the reader's prefetcher, which stays within a page, does
// not fetch the next block.
inline constexpr std::size_t block_distance_bytes = 4096 + memory::line_bytes;

// Maximum number of repetitions of an unsteady measurement. If none is steady, the steadiest one is
// used and counted as doubtful.
inline constexpr int most_repetitions = 2;

// Number of samples taken even after the time limit, so that a busy machine gives a doubtful result
// instead of none. Only the stop flag prevents it.
inline constexpr std::size_t samples_in_any_case = 3;

// The length of a series of samples.
struct Extent {
  std::size_t least = 32;    // minimum number of samples, unless the budget ends first
  std::size_t most = 65536;  // maximum number of samples, to limit memory
  double seconds = 0.02;     // several time slices of the scheduler, so that other load is noticed
};

// Decides when a sampling loop ends. Reads the clock: call it per sample, not per round trip.
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

// Result of one attempt: samples in order, and the interference with the threads.
struct Samples {
  std::vector<double> ns;
  // Samples of the other cores, if several cores did the same at the same time.
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

// Summarizes the samples of each core separately, because a difference between cores is not noise.
// Returns the figures of the slowest core, since a collective ends with its last rank.
Summary summary_of(const Samples& samples);

// Repeats `attempt` until it is steady, the repetitions are used up or the budget is exhausted.
// Returns the steadiest attempt.
Measured measure(const Tolerance& tolerance, const Budget& budget,
                 const std::function<Samples(const Budget&)>& attempt);

// Records all measurements, and summarizes at the end which are doubtful and which hardware threads
// were disturbed: a few sentences instead of one per measurement.
class MeasurementLog {
 public:
  // Records one measurement of a step, for example "copy, 1 core alone" and "64K".
  void record(const std::string& step, const std::string& detail, const Measured& measured);
  // Adds another reason to doubt a step.
  void add(const std::string& step, const std::string& why);

  std::vector<machine::Doubt> doubts() const;
  // Returns the number of all measurements.
  int measurements() const { return measurements_; }
  // Returns the number of measurements that are unsteady or had no time left.
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
  std::map<int, Blame> blame_;  // by hardware thread
  int measurements_ = 0;
};

}  // namespace huddle::calibrate
