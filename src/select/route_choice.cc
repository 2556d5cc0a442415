// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/route_choice.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace huddle::select {

using machine::HandoffKind;
using memory::CopyKernel;
using memory::CopyRoute;
using memory::CopyRoutes;

namespace {

// A name that no machine file can have does not compile.
constexpr std::array<RouteCurves, memory::copy_routes.size()> curves = [] {
  std::array<RouteCurves, memory::copy_routes.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const memory::RouteDescriptor& route = memory::copy_routes[i];
    all[i] = {machine::handoff_kind(route.write_curve), machine::handoff_kind(route.read_curve),
              machine::handoff_kind(route.ring_curve), std::nullopt};
    if (!route.own_curve.empty()) all[i].own = machine::handoff_kind(route.own_curve);
  }
  return all;
}();

}  // namespace

const RouteCurves& curves_of(CopyRoute route) { return curves[route.number()]; }

double ring_ns(const machine::CostModel& model, CopyRoute route, double bytes, int from, int to) {
  return model.handoff_ns(bytes, from, to, curves_of(route).ring);
}

bool is_possible(CopyRoute route, CopyRoutes allowed) {
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), route) != allowed.end();
  return is_allowed && memory::is_native(route->in) && memory::is_native(route->out);
}

CopyRoute route_for(const machine::CostModel& model, double bytes, int from, int to,
                    CopyRoutes allowed) {
  CopyRoute best;
  double best_ns = ring_ns(model, best, bytes, from, to);
  for (const CopyRoute route : allowed) {
    const double ns = ring_ns(model, route, bytes, from, to);
    if (!is_possible(route, allowed) || ns >= best_ns) continue;
    best = route;
    best_ns = ns;
  }
  return best;
}

namespace {

// For each size the kernel whose curve lies lowest; curves are those of `curve(route)`.
template <class Curve>
memory::KernelBySize kernels(const machine::CostModel& model, Curve curve, int from, int to) {
  memory::KernelBySize by_size;
  for (std::size_t power = 0; power < memory::KernelBySize::sizes; ++power) {
    const double bytes = std::ldexp(1.0, static_cast<int>(power));
    double best_ns = model.handoff_ns(bytes, from, to, curve(curves_of(CopyKernel::plain)));
    for (const CopyRoute route : memory::same_kernel_both_ends) {
      if (!memory::is_native(route->in)) continue;
      const double ns = model.handoff_ns(bytes, from, to, curve(curves_of(route)));
      if (ns >= best_ns) continue;
      best_ns = ns;
      by_size.set(power, route->in);
    }
  }
  return by_size;
}

}  // namespace

memory::KernelBySize kernels_of_reads(const machine::CostModel& model, int from, int to) {
  return kernels(
      model, [](const RouteCurves& route) { return route.read; }, from, to);
}

memory::KernelBySize kernels_of_writes(const machine::CostModel& model, int from, int to) {
  return kernels(
      model, [](const RouteCurves& route) { return route.write; }, from, to);
}

}  // namespace huddle::select
