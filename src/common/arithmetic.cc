// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "common/arithmetic.h"

#include <algorithm>
#include <vector>

namespace huddle {

double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
}

}  // namespace huddle
