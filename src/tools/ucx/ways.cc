// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/ways.h"

#include <algorithm>
#include <limits>

namespace huddle::ucx {
namespace {

// A block's way through lines that were used before, slowed as copies are by as many copiers.
double copied_ns(const machine::CostModel& model, double bytes, int ranks) {
  const std::vector<int> cores = machine::first_pu_of_cores(model.machine().topology);
  if (cores.size() < 2) return std::numeric_limits<double>::infinity();
  const std::size_t used =
      std::clamp<std::size_t>(static_cast<std::size_t>(ranks), 2, cores.size());
  const machine::Copy alone{.bytes = bytes, .copier = cores.front(), .peer = cores.front()};
  machine::Copy together = alone;
  together.others = ranks - 1;
  const double slowdown = std::max(1.0, model.copy_ns(together) / model.copy_ns(alone));
  return model.handoff_ns(bytes, cores.front(), cores[used - 1], machine::HandoffKind::ring) *
         slowdown;
}

}  // namespace

std::vector<std::string> ways_of(const machine::Machine& machine) {
  std::vector<std::string> ways = {std::string(shared_memory)};
  for (const machine::PathCurve& curve : machine.paths) {
    if (std::find(ways.begin(), ways.end(), curve.path) == ways.end()) ways.push_back(curve.path);
  }
  return ways;
}

double way_ns(const machine::CostModel& model, std::string_view way, double bytes, int ranks) {
  return way == shared_memory ? copied_ns(model, bytes, ranks)
                              : model.path_ns(way, bytes, ranks - 1);
}

}  // namespace huddle::ucx
