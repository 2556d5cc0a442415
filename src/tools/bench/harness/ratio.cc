// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/ratio.h"

#include <algorithm>
#include <cmath>

#include "common/arithmetic.h"

namespace huddle::bench {
namespace {

// Returns the greatest k for which the probability of fewer than k heads in n tosses of a coin is
// at most `tail`.
std::size_t greatest_rank(std::size_t n, double tail) {
  const auto tosses = static_cast<double>(n);
  double fewer = 0;
  std::size_t k = 0;
  while (k < n) {
    const auto heads = static_cast<double>(k);
    const double log_ways =
        std::lgamma(tosses + 1) - std::lgamma(heads + 1) - std::lgamma(tosses - heads + 1);
    fewer += std::exp(log_ways - tosses * std::log(2.0));
    if (fewer > tail) break;
    ++k;
  }
  return k;
}

}  // namespace

Estimate estimate(std::span<const double> ratios) {
  std::vector<double> sorted(ratios.begin(), ratios.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t rank = greatest_rank(sorted.size(), (1 - confidence) / 2);
  const std::size_t from_end = std::max(rank, std::size_t{1});
  return {.ratio = median_of(sorted),
          .low = sorted[from_end - 1],
          .high = sorted[sorted.size() - from_end],
          .batches = sorted.size(),
          .sure = rank > 0};
}

std::vector<double> PairedSamples::ratios() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < batches(); ++i) {
    all.push_back(median_of(native_ns[i]) / median_of(huddle_ns[i]));
  }
  return all;
}

double middle_ns(const std::vector<std::vector<double>>& batches) {
  std::vector<double> medians;
  for (const auto& batch : batches) medians.push_back(median_of(batch));
  return median_of(medians);
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace huddle::bench
