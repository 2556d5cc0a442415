// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs a job in many orders and looks for one that fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check/checker/job.h"

namespace huddle::verify::checker {

// Every order within the budget, the simplest first: for a few ranks and a few operations.
Result explore(const Job& job, const Options& options = {});

// Orders by chance, for any number of ranks. Nothing but the seed decides which.
Result sample(const Job& job, std::uint64_t seed, std::size_t runs, const Options& options = {});

// The one order that a failure names by its `choices`. pre: the same job and the same options.
Result replay(const Job& job, std::string_view choices, const Options& options = {});

}  // namespace huddle::verify::checker
