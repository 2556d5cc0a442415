// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/calibration.h"

#include <fmt/format.h>

#include "common/text.h"

namespace huddle::machine {

Calibration calibration_of(const Machine& machine) {
  if (!calibrated(machine)) return Calibration::none;
  const bool is_quick = machine.provenance.method.starts_with(
      calibration_names[static_cast<std::size_t>(Calibration::quick)]);
  return is_quick ? Calibration::quick : Calibration::full;
}

std::string unsteadiness_text(const Machine& machine) {
  if (machine.doubts.empty()) return {};
  const auto number = static_cast<long long>(machine.doubts.size());
  return fmt::format("{} unsteady ({}{})", counted(number, "step"), machine.doubts.front().what,
                     number > 1 ? ", ..." : "");
}

}  // namespace huddle::machine
