// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Adds variables to the command line of a launcher, so that they reach ranks on every node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/launch/launcher.h"

namespace huddle::launch {

// An environment variable for the ranks.
struct Variable {
  std::string name;
  std::string value;

  bool operator==(const Variable&) const = default;
};

// Returns "NAME=value".
inline std::string assignment(const Variable& variable) {
  return variable.name + "=" + variable.value;
}

// Adds variables to a list of Slurm's --export: ALL, NONE, or names and assignments, separated by
// commas. Variables are added by name, because srun's environment contains them and their values
// may contain commas. If the list assigns LD_PRELOAD, `preload` is appended to its value.
std::string extended_export(std::string_view list, const std::vector<Variable>& variables,
                            const std::string& preload);

// The variables to pass on. Variables that the user passes on stay unchanged, except that `preload`
// (files separated by colons) is appended to LD_PRELOAD. `slurm_export` is the value of
// SLURM_EXPORT_ENV, which applies if there is no --export.
struct ForwardedVariables {
  std::vector<Variable> variables;
  std::string preload;
  std::string slurm_export = {};
};
std::vector<std::string> pass_variables(const std::vector<std::string>& words,
                                        const std::vector<AppContext>& contexts, Passing passing,
                                        const ForwardedVariables& passed);

}  // namespace huddle::launch
