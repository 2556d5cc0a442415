// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Converts the options of `huddle bench` into a plan of what to measure with an MPI.
#pragma once

#include <string>

#include "tools/bench/mpi/measure_points.h"
#include "tools/cli/bench/bench_options.h"

namespace huddle::cli {

// Returns the sizes of --sizes, or the usual ones.
std::string bench_sizes(const MpiBenchOptions& options);

// Finds the MPI and returns the plan of the measurement. `with_heap`: the ranks' buffers are in the
// shared heap. Throws UsageError.
bench::MpiPlan mpi_plan(const MpiBenchOptions& options, const std::string& sizes,
                        const std::string& machine_file, bool with_heap);

// Returns the launcher of a single MPI as found, because another may be first on the PATH when the
// measurement is repeated.
std::string launcher_of(const bench::MpiPlan& plan, const MpiBenchOptions& options);

// Throws UsageError if ranks under a real-time policy would share hardware threads: those of some
// MPIs never yield and would block the machine.
void refuse_crowded_real_time(int ranks, int processors);

}  // namespace huddle::cli
