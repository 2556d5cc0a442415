// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What Slurm's --export holds: ALL, NONE, or names and assignments, separated by commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/launch/variable.h"

namespace huddle::launch {

// The list with our variables let through. They go by name, because srun's own environment holds
// them: a value may hold commas. An LD_PRELOAD assigned in the list gets `preload` put before it.
std::string extended_export(std::string_view list, const std::vector<Variable>& variables,
                            const std::string& preload);

}  // namespace huddle::launch
