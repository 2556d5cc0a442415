// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench --json` prints: docs/guide.md describes it.
#pragma once

#include <string>

#include "cli/bench_report.h"

namespace huddle::cli {

inline constexpr int bench_json_schema = 1;

std::string bench_json(const BenchReport& report);

}  // namespace huddle::cli
