// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Estimates from paired batches how many times faster one side is, with a confidence interval.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace huddle::bench {

// Minimum probability that the interval contains the true ratio.
inline constexpr double confidence = 0.95;

struct Estimate {
  double ratio = 0;  // median of the batches' ratios
  double low = 0;    // lower end of the interval
  double high = 0;
  std::size_t batches = 0;
  bool sure = false;  // enough batches for an interval with this confidence

  // Returns half of the interval, relative to the ratio.
  double half_width() const { return ratio > 0 ? (high - low) / 2 / ratio : 0; }
};

// Returns the median of the ratios with a confidence interval from their order statistics. The
// interval contains the true median with at least the probability `confidence`, whatever the
// distribution. No random numbers are needed.
// Requires: `ratios` is not empty.
Estimate estimate(std::span<const double> ratios);

// Samples of both sides in paired batches that are measured directly after each other, so a machine
// that is slow for a while is slow for both.
struct PairedSamples {
  std::vector<std::vector<double>> native_ns;
  std::vector<std::vector<double>> huddle_ns;

  std::size_t batches() const { return huddle_ns.size(); }
  // Returns the ratio of each batch; huddle is faster if it is above 1.
  // Requires: both sides have the same number of batches, and none is empty.
  std::vector<double> ratios() const;
};

// Returns the median of all batches' medians.
// Requires: `batches` is not empty.
double middle_ns(const std::vector<std::vector<double>>& batches);

double geometric_mean(std::span<const double> values);  // Requires: not empty, all above 0

}  // namespace huddle::bench
