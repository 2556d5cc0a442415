// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench` says to a person.
#pragma once

#include <string>

#include "cli/bench_report.h"

namespace huddle::cli {

// Which machine the figures are of, and how well it is known. machine_file: as in a report.
std::string machine_text(const machine::Machine& machine, const std::string& machine_file);

std::string bench_text(const BenchReport& report, int columns);

}  // namespace huddle::cli
