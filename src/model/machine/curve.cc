// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/curve.h"

#include <algorithm>

namespace huddle::machine {
namespace {

// The time at point i with falls taken out: a larger size never takes less.
std::vector<double> monotone_times(const Curve& curve) {
  std::vector<double> ns = curve.ns;
  for (std::size_t i = 1; i < ns.size(); ++i) ns[i] = std::max(ns[i], ns[i - 1]);
  return ns;
}

double slope(const Curve& curve, const std::vector<double>& ns, std::size_t i) {
  return (ns[i + 1] - ns[i]) / (curve.bytes[i + 1] - curve.bytes[i]);
}

// Below the first point the first segment goes on towards its fixed cost at zero bytes.
double before_first(const Curve& curve, const std::vector<double>& ns, double bytes) {
  const double at_zero =
      ns.size() < 2 ? 0 : std::max(0.0, ns[0] - slope(curve, ns, 0) * curve.bytes[0]);
  return at_zero + (ns[0] - at_zero) * bytes / curve.bytes[0];
}

// Beyond the last point at the rate of the last segment, or of the whole where that is slower:
// noise in the last two points must not make large sizes free.
double after_last(const Curve& curve, const std::vector<double>& ns, double bytes) {
  const std::size_t last = ns.size() - 1;
  double per_byte = ns[last] / curve.bytes[last];
  if (last > 0) per_byte = std::max(per_byte, slope(curve, ns, last - 1));
  return ns[last] + per_byte * (bytes - curve.bytes[last]);
}

}  // namespace

double time_at(const Curve& curve, double bytes) {
  const std::vector<double> ns = monotone_times(curve);
  if (bytes <= curve.bytes.front()) return before_first(curve, ns, bytes);
  if (bytes >= curve.bytes.back()) return after_last(curve, ns, bytes);
  const auto above = std::upper_bound(curve.bytes.begin(), curve.bytes.end(), bytes);
  const auto i = static_cast<std::size_t>(above - curve.bytes.begin()) - 1;
  return ns[i] + slope(curve, ns, i) * (bytes - curve.bytes[i]);
}

std::vector<double> rates(const Curve& curve) {
  std::vector<double> result;
  for (std::size_t i = 0; i < curve.ns.size(); ++i) result.push_back(curve.bytes[i] / curve.ns[i]);
  return result;
}

}  // namespace huddle::machine
