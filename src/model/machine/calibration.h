// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tells full calibrations from quick and unsteady ones.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "model/machine/machine.h"

namespace huddle::machine {

enum class Calibration { none, quick, full };
inline constexpr std::array<std::string_view, 3> calibration_names = {"none", "quick", "full"};

// Returns what the provenance records. Files that were not written by `huddle calibrate` and
// contain measured figures count as full.
Calibration calibration_of(const Machine& machine);

// Returns the name of it, for programs.
inline std::string_view calibration_text(const Machine& machine) {
  return calibration_names[static_cast<std::size_t>(calibration_of(machine))];
}

// Returns "3 steps unsteady (copy, 1 core alone, ...)"; empty if all measurements were steady.
std::string unsteadiness_text(const Machine& machine);

}  // namespace huddle::machine
