// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench` says to a person.
#pragma once

#include <string>

#include "cli/bench_report.h"

namespace huddle::cli {

std::string bench_text(const BenchReport& report, int columns);

}  // namespace huddle::cli
