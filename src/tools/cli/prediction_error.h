// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How far the machine model's predictions are from what was measured: said wherever both are there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::cli {

// Behind the figures of a prediction that is off by more than `mispredicted_from`.
inline constexpr std::string_view misprediction_mark = "?";
inline constexpr double mispredicted_from = 2;

// How many times the greater of a predicted and a measured time is the lesser: 1 where they agree.
// pre: both are above 0.
double times_off(double predicted_ns, double measured_ns);
bool is_mispredicted(double predicted_ns, double measured_ns);

struct PredictionError {
  std::size_t points = 0;        // of which there are both times; 0: nothing is known
  double median_times_off = 0;   // half of the points are off by less
  std::size_t mispredicted = 0;  // points that are marked
};

// Of the times_off of each point, without those whose price the machine file cannot tell.
PredictionError prediction_error(std::vector<double> times_off);

// "the model's predictions are off by a factor of 1.24 in the median of 34 points; 2 points marked
// ?: by more than 2"; empty where nothing is known.
std::string prediction_error_text(const PredictionError& error);

}  // namespace huddle::cli
