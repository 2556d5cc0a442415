// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle run` would execute, for programs.
#pragma once

#include <string>

#include "launch/plan.h"

namespace huddle::cli {

inline constexpr int run_json_schema = 1;

std::string run_json(const launch::Plan& plan);

}  // namespace huddle::cli
