// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Adds variables to the command line of Open MPI 4 if this already passes variables by its list
// mca_base_env_list, beside which mpirun rejects -x.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/launch/environment.h"
#include "tools/launch/launcher.h"

namespace huddle::launch {

// The environment variable that contains the list.
inline constexpr std::string_view env_list_variable = "OMPI_MCA_mca_base_env_list";

// The sources of a list outside the command line.
struct EnvListSources {
  std::string variable = {};  // value of env_list_variable; empty if it is not set
  std::vector<std::string> parameter_files = {};  // need not exist
};

struct OpenMpiCommand {
  std::vector<std::string> words;
  std::string env_list = {};  // new value of env_list_variable; empty if it stays as it is
  // The file whose list excludes huddle's variables; empty if there is none.
  std::string file_with_env_list = {};
  std::string app_file = {};  // that of --app, with which mpirun ignores -x; empty if there is none
};

// Returns the files that Open MPI reads on each start: those of the user and of the installation to
// which the launcher at `path` belongs.
std::vector<std::string> parameter_files_of(const std::string& path, const std::string& home);

// Adds the variables to the list of the command line, or else to that of the environment. Without a
// list, adds options -x.
OpenMpiCommand pass_in_open_mpi_4(const std::vector<std::string>& words,
                                  const std::vector<AppContext>& contexts,
                                  const ForwardedVariables& passed, const EnvListSources& sources);

}  // namespace huddle::launch
