// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/prediction_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/median.h"
#include "common/text.h"

namespace huddle::cli {

double times_off(double predicted_ns, double measured_ns) {
  return std::max(predicted_ns / measured_ns, measured_ns / predicted_ns);
}

bool is_mispredicted(double predicted_ns, double measured_ns) {
  return times_off(predicted_ns, measured_ns) > mispredicted_from;
}

PredictionError prediction_error(std::vector<double> times_off) {
  std::erase_if(times_off, [](double one) { return !std::isfinite(one); });
  if (times_off.empty()) return {};
  const auto mispredicted = std::count_if(times_off.begin(), times_off.end(),
                                          [](double one) { return one > mispredicted_from; });
  return {.points = times_off.size(),
          .median_times_off = median_of(times_off),
          .mispredicted = static_cast<std::size_t>(mispredicted)};
}

std::string prediction_error_text(const PredictionError& error) {
  if (error.points == 0) return "";
  const std::string text =
      fmt::format("the model's predictions are off by a factor of {:.2f} in the median of {}",
                  error.median_times_off, counted(static_cast<long long>(error.points), "point"));
  if (error.mispredicted == 0) {
    return fmt::format("{}, and nowhere by more than {}", text, mispredicted_from);
  }
  return fmt::format("{}; {} marked {}: by more than {}", text,
                     counted(static_cast<long long>(error.mispredicted), "point"),
                     misprediction_mark, mispredicted_from);
}

}  // namespace huddle::cli
