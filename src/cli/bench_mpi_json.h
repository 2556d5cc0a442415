// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All that `huddle bench` with an MPI has measured, as JSON.
#pragma once

#include <string>

#include "cli/bench_mpi_text.h"

namespace huddle::cli {

inline constexpr int bench_mpi_json_schema = 1;

std::string bench_mpi_json(const MpiBenchReport& report);

}  // namespace huddle::cli
