// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Writes variables into the words of a launcher, so that they reach ranks on every node.
#pragma once

#include <string>
#include <vector>

#include "tools/launch/contexts.h"
#include "tools/launch/launcher.h"
#include "tools/launch/variable.h"

namespace huddle::launch {

// The words with `variables` passed on. What the user passes on himself stays as it is; only an
// LD_PRELOAD of his gets ours put before it: `preload` are the files, between colons.
// `slurm_export` is SLURM_EXPORT_ENV, which stands for --export where that is not given.
struct ForwardedVariables {
  std::vector<Variable> variables;
  std::string preload;
  std::string slurm_export = {};
};
std::vector<std::string> pass_variables(const std::vector<std::string>& words,
                                        const std::vector<AppContext>& contexts, Passing passing,
                                        const ForwardedVariables& passed);

}  // namespace huddle::launch
