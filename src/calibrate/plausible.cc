// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "calibrate/plausible.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "calibrate/verdict.h"

namespace huddle::calibrate {
namespace {

using machine::HandoffKind;
using machine::Machine;

// Lines that another core has cached must be taken back one by one, which halves the rate on every
// machine known; hardware threads of one core share its caches and take nothing back.
constexpr double share_of_own_rate = 0.6;
// In the first-level cache of nobody else, in the second-level cache of everybody.
constexpr double compared_bytes = 64 << 10;

const machine::CopyCurve* copy_alone(const Machine& machine) {
  const auto found = std::find_if(machine.copy.begin(), machine.copy.end(),
                                  [](const auto& copy) { return copy.copiers == 1; });
  return found == machine.copy.end() ? nullptr : &*found;
}

}  // namespace

std::vector<machine::Doubt> implausible(const Machine& machine) {
  std::vector<machine::Doubt> doubts;
  const machine::CopyCurve* alone = copy_alone(machine);
  if (alone == nullptr) return doubts;
  const double own_ns = time_at(alone->curve, compared_bytes);
  for (const auto& handoff : machine.handoff) {
    if (handoff.kind != HandoffKind::write_cached || handoff.level == "core") continue;
    const double share = own_ns / time_at(handoff.curve, compared_bytes);
    if (share < share_of_own_rate) continue;
    doubts.push_back({fmt::format("level {}", handoff.level),
                      fmt::format("writing lines that the other cpu has cached runs at {:.0f} % of "
                                  "the rate of writing own ones; the two may be hardware threads "
                                  "of one core, which the firmware or a hypervisor does not say",
                                  100 * share)});
  }
  return doubts;
}

std::string change_of_line(double before_ns, double after_ns) {
  const double change = std::max(after_ns / before_ns, before_ns / after_ns) - 1;
  if (change <= Tolerance{}.drift) return {};
  return fmt::format("{} at the end of the run, {} at its start: the machine has changed meanwhile",
                     time_text(after_ns), time_text(before_ns));
}

}  // namespace huddle::calibrate
