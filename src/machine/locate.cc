// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "machine/locate.h"

#include <cstdlib>
#include <filesystem>

#include "machine/machine_file.h"

namespace huddle::machine {
namespace {

constexpr const char* site_folder = "/etc/huddle/machines/";

// Empty where there is no home: then only the site's files count.
std::string user_folder() {
  for (const auto& [variable, below] :
       {std::pair{"XDG_CONFIG_HOME", "/huddle/machines/"}, {"HOME", "/.config/huddle/machines/"}}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value == '/') return std::string(value) + below;
  }
  return std::string();
}

std::string file_name(const Topology& topology) { return fingerprint(topology) + ".toml"; }

}  // namespace

std::string user_machine_file(const Topology& topology) {
  const std::string folder = user_folder();
  if (folder.empty()) {
    throw FailureError(
        "there is no home folder to keep the machine file in; name one: --output FILE");
  }
  return folder + file_name(topology);
}

std::vector<std::string> machine_file_candidates(const Topology& topology) {
  std::vector<std::string> paths;
  const std::string folder = user_folder();
  if (!folder.empty()) paths.push_back(folder + file_name(topology));
  paths.push_back(site_folder + file_name(topology));
  return paths;
}

LoadedMachine load_machine(const std::string& named, const Topology& this_machine) {
  if (!named.empty()) return {read_machine_file(named), named};
  for (const std::string& path : machine_file_candidates(this_machine)) {
    if (std::filesystem::exists(path)) return {read_machine_file(path), path};
  }
  return {generic_machine(this_machine), ""};
}

}  // namespace huddle::machine
