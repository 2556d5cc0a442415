// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Writes variables into the words of a launcher, so that they reach ranks on every node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/launch/launcher.h"

namespace huddle::launch {

// A variable of the environment, as it travels to the ranks.
struct Variable {
  std::string name;
  std::string value;

  bool operator==(const Variable&) const = default;
};

// "NAME=value".
inline std::string assignment(const Variable& variable) {
  return variable.name + "=" + variable.value;
}

// What Slurm's --export holds: ALL, NONE, or names and assignments, separated by commas.

// The list with our variables let through. They go by name, because srun's own environment holds
// them: a value may hold commas. An LD_PRELOAD assigned in the list gets `preload` put before it.
std::string extended_export(std::string_view list, const std::vector<Variable>& variables,
                            const std::string& preload);

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
