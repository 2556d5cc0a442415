// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/model_error.h"

#include <algorithm>

namespace huddle::select {
namespace {

// The median error in docs/model.md, "How far it can be trusted".
constexpr double error_of_compared_predictions = 0.16;

template <class Entries>
void add_spreads(const Entries& entries, std::vector<double>& spreads) {
  for (const auto& entry : entries) {
    if (entry.origin != machine::Origin::measured) continue;
    if constexpr (requires { entry.curve; }) {
      spreads.insert(spreads.end(), entry.curve.spread.begin(), entry.curve.spread.end());
    } else {
      spreads.push_back(entry.spread);
    }
  }
}

double median_spread(const machine::Machine& machine) {
  std::vector<double> spreads;
  add_spreads(machine.line, spreads);
  add_spreads(machine.copy, spreads);
  add_spreads(machine.handoff, spreads);
  add_spreads(machine.paths, spreads);
  add_spreads(machine.system, spreads);
  if (spreads.empty()) return 0;
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::nth_element(spreads.begin(), middle, spreads.end());
  return *middle;
}

}  // namespace

double model_error(const machine::Machine& machine) {
  return std::max(error_of_compared_predictions, median_spread(machine));
}

std::size_t near_ties(const std::vector<Candidate>& by_cost, double error) {
  const auto beyond = std::find_if(by_cost.begin(), by_cost.end(), [&](const Candidate& one) {
    return one.ns > by_cost.front().ns * (1 + error);
  });
  return static_cast<std::size_t>(beyond - by_cost.begin());
}

}  // namespace huddle::select
