// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a series of timings says: its middle, its width, and every way in which it was disturbed.
// docs/records/0004-measuring.md explains the choice of figures.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

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

}  // namespace huddle::calibrate
