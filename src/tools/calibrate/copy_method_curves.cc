// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/copy_method_curves.h"

#include <algorithm>
#include <array>

namespace huddle::calibrate {
namespace {

using machine::HandoffPart;

bool names(memory::CopyMethod method, std::string_view curve) {
  const std::array named = {method->write_curve, method->read_curve, method->ring_curve,
                            method->own_curve};
  return std::find(named.begin(), named.end(), curve) != named.end();
}

}  // namespace

std::vector<CopyMethodCurve> copy_method_curves() {
  std::vector<CopyMethodCurve> curves;
  for (std::size_t i = 0; i < machine::handoff_names.size(); ++i) {
    const auto method =
        std::find_if(memory::all_copy_methods.begin(), memory::all_copy_methods.end(),
                     [&](memory::CopyMethod one) { return names(one, machine::handoff_names[i]); });
    if (method == memory::all_copy_methods.end()) continue;
    curves.push_back({static_cast<machine::HandoffKind>(i), *method});
  }
  return curves;
}

Samples time_handoff(HandoffProbe& probe, const CopyMethodCurve& curve, std::size_t bytes,
                     const Extent& extent, const Budget& budget) {
  switch (facts_of(curve.kind).part) {
    case HandoffPart::write:
      return probe.time_write(bytes, curve.method, extent, budget);
    case HandoffPart::read:
      return probe.time_read(bytes, curve.method, extent, budget);
    case HandoffPart::ring:
      return probe.time_ring(bytes, curve.method, extent, budget);
  }
  return {};
}

}  // namespace huddle::calibrate
