// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "calibrate/route_curves.h"

#include <algorithm>
#include <array>

namespace huddle::calibrate {
namespace {

using machine::HandoffPart;

bool names(memory::CopyRoute route, std::string_view curve) {
  const std::array named = {route->write_curve, route->read_curve, route->ring_curve,
                            route->own_curve};
  return std::find(named.begin(), named.end(), curve) != named.end();
}

}  // namespace

std::vector<RouteCurve> route_curves() {
  std::vector<RouteCurve> curves;
  for (std::size_t i = 0; i < machine::handoff_names.size(); ++i) {
    const auto route =
        std::find_if(memory::all_routes.begin(), memory::all_routes.end(),
                     [&](memory::CopyRoute one) { return names(one, machine::handoff_names[i]); });
    if (route == memory::all_routes.end()) continue;
    curves.push_back({static_cast<machine::HandoffKind>(i), *route});
  }
  return curves;
}

Samples time_handoff(HandoffProbe& probe, const RouteCurve& curve, std::size_t bytes,
                     const Extent& extent, const Budget& budget) {
  switch (facts_of(curve.kind).part) {
    case HandoffPart::write:
      return probe.time_write(bytes, curve.route, extent, budget);
    case HandoffPart::read:
      return probe.time_read(bytes, curve.route, extent, budget);
    case HandoffPart::ring:
      return probe.time_ring(bytes, curve.route, extent, budget);
  }
  return {};
}

}  // namespace huddle::calibrate
