// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Output of `huddle doctor` as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/console.h"
#include "tools/doctor/doctor.h"

namespace huddle::cli {

inline constexpr int doctor_json_schema = 1;

std::string doctor_text(const std::vector<doctor::Finding>& findings, const Console& console);
std::string doctor_json(const std::vector<doctor::Finding>& findings);

}  // namespace huddle::cli
