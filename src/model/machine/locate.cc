// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/locate.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "model/machine/machine_file.h"

namespace huddle::machine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view machines = "machines";

// Relative to the prefix of an installation or a build tree.
constexpr const char* data_folder = "share/huddle";
// The depth of lib/x86_64-linux-gnu/huddle below its prefix.
constexpr int most_levels_below_prefix = 3;

// Returns an empty string if there is no home folder; then only the site's files are used.
std::string user_folder(std::string_view of_what = machines) {
  for (const auto& [variable, below] :
       {std::pair{"XDG_CONFIG_HOME", "/huddle/"}, {"HOME", "/.config/huddle/"}}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value == '/') return fmt::format("{}{}{}/", value, below, of_what);
  }
  return std::string();
}

std::string site_folder(std::string_view of_what = machines) {
  return fmt::format("/etc/huddle/{}/", of_what);
}

// Returns the path of the program or library that contains this code.
fs::path own_file() {
  Dl_info self{};
  void* found = nullptr;
  const int is_known =
      dladdr1(reinterpret_cast<const void*>(&user_machine_file), &self, &found, RTLD_DL_LINKMAP);
  const auto* const map = static_cast<const link_map*>(found);
  // The link map has no path for the main program.
  if (is_known != 0 && map != nullptr && *map->l_name != '\0') return map->l_name;
  std::error_code unreadable;
  return fs::read_symlink("/proc/self/exe", unreadable);
}

std::vector<NamedMachine> toml_files_in(const std::string& folder) {
  std::vector<NamedMachine> files;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".toml") files.push_back({path.stem().string(), path.string()});
  }
  return files;
}

std::string file_name(const Topology& topology) { return fingerprint(topology) + ".toml"; }

}  // namespace

std::vector<std::string> machine_folders() { return {user_folder(), site_folder()}; }

std::string installed_folder(std::string_view of_what) {
  fs::path folder = own_file().parent_path();
  for (int level = 0; level < most_levels_below_prefix; ++level) {
    folder = folder.parent_path();
    const fs::path data = folder / data_folder / of_what / "";
    std::error_code ignored;
    if (fs::is_directory(data, ignored)) return data.string();
  }
  return std::string();
}

std::string user_machine_file(const Topology& topology) {
  const std::string folder = user_folder();
  if (folder.empty()) {
    throw FailureError(
        "there is no home directory for the machine file; name a file with --output FILE");
  }
  return folder + file_name(topology);
}

std::vector<std::string> machine_file_candidates(const Topology& topology) {
  std::vector<std::string> paths;
  const std::string folder = user_folder();
  if (!folder.empty()) paths.push_back(folder + file_name(topology));
  paths.push_back(site_folder() + file_name(topology));
  return paths;
}

std::vector<NamedMachine> named_files(const std::string& of_what) {
  std::map<std::string, std::string> found;
  for (const std::string& folder :
       {user_folder(of_what), site_folder(of_what), installed_folder(of_what)}) {
    for (NamedMachine& file : toml_files_in(folder)) {
      found.emplace(std::move(file.name), std::move(file.path));
    }
  }
  std::vector<NamedMachine> files;
  for (const auto& [name, path] : found) files.push_back({name, path});
  return files;
}

std::vector<NamedMachine> named_machines() { return named_files(std::string(machines)); }

std::string machine_file_named(const std::string& named) {
  if (is_toml_path(named)) return named;
  std::vector<std::string> names;
  for (const NamedMachine& machine : named_machines()) {
    if (machine.name == named) return machine.path;
    names.push_back(machine.name);
  }
  const std::string guess = did_you_mean(named, names);
  throw InputError(fmt::format(
      "unknown machine '{}'{}", printable(named),
      guess.empty()
          ? "; 'huddle topo --list-machines' lists all names; write the path of a file as ./" +
                printable(named)
          : guess));
}

namespace {

LoadedMachine load_from(const std::string& path) {
  std::string text = read_text(path);
  Machine machine = parse_machine(text, path);
  return {std::move(machine), path, std::move(text)};
}

}  // namespace

LoadedMachine load_machine(const std::string& named, const Topology& this_machine) {
  if (!named.empty()) return load_from(machine_file_named(named));
  for (const std::string& path : machine_file_candidates(this_machine)) {
    // A home folder that this user cannot access contains no file for it.
    std::error_code inaccessible;
    if (fs::exists(path, inaccessible)) return load_from(path);
  }
  return {generic_machine(this_machine), "", ""};
}

namespace {

// Searches the text of the file without parsing it. Estimated networks do not count.
bool has_measured_network(const std::string& path) {
  const std::string text = read_text(path);
  constexpr std::string_view table = "[[network]]";
  for (auto at = text.find(table); at != std::string::npos; at = text.find(table, at)) {
    at += table.size();
    const std::string_view body = std::string_view(text).substr(at, text.find("\n[", at) - at);
    if (body.find("\norigin = \"measured\"") != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

// Ignores errors, because the code that uses a file reports them.
bool has_network_file(const std::string& named) {
  try {
    if (!named.empty()) return has_measured_network(machine_file_named(named));
    for (const std::string& folder : {user_folder(), site_folder()}) {
      const std::vector<NamedMachine> files = toml_files_in(folder);
      const auto is_one = [](const NamedMachine& one) { return has_measured_network(one.path); };
      if (std::any_of(files.begin(), files.end(), is_one)) return true;
    }
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

}  // namespace huddle::machine
