// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle run` would execute, and how runs with it and without compare: for programs.
#pragma once

#include <string>

#include "tools/bench/mpi/whole_runs.h"
#include "tools/launch/plan.h"

namespace huddle::cli {

inline constexpr int run_json_schema = 1;

std::string run_json(const launch::Plan& plan);

// pre: at least one round
std::string compared_json(const bench::WholeRuns& runs, const std::string& taken);

}  // namespace huddle::cli
