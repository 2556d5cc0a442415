// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What paired batches say about how many times faster one side is, and how sure that is.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace huddle::bench {

// How likely the true ratio is to lie within an interval, at least.
inline constexpr double confidence = 0.95;

struct Estimate {
  double ratio = 0;  // the median of the batches' own
  double low = 0;    // of the interval
  double high = 0;
  std::size_t batches = 0;
  bool sure = false;  // enough batches for an interval of that confidence

  // Half of the interval, as a share of the ratio.
  double half_width() const { return ratio > 0 ? (high - low) / 2 / ratio : 0; }
};

// The median of these and an interval from their order alone: whatever their distribution, it
// holds the true median with the confidence above, and no random draw is needed for it.
// pre: not empty.
Estimate estimate(std::span<const double> ratios);

// Samples of both sides, batch for batch, taken one right after the other: a machine that is slow
// for a while is slow for both.
struct PairedSamples {
  std::vector<std::vector<double>> native_ns;
  std::vector<std::vector<double>> huddle_ns;

  std::size_t batches() const { return huddle_ns.size(); }
  // Above 1: huddle is faster. pre: as many batches of one as of the other, none empty.
  std::vector<double> ratios() const;
};

// The median of all batches' medians. pre: not empty.
double middle_ns(const std::vector<std::vector<double>>& batches);

double geometric_mean(std::span<const double> values);  // pre: not empty, all above 0

}  // namespace huddle::bench
