// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/stored_machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "huddle/huddle.h"
#include "model/machine/locate.h"

namespace huddle::machine {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// Returns the folder for data that can be lost, with a trailing slash; empty if there is none.
std::string cache_folder() {
  const std::string of_user = variable("XDG_CACHE_HOME");
  if (of_user.starts_with('/')) return of_user + "/huddle/";
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/huddle/" : std::string();
}

// Returns a text that changes if the file or folder is replaced or changed.
std::string version_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return fmt::format("{} -\n", path);
  return fmt::format("{} {}.{:09} {} {}\n", path, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                     status.st_size, status.st_ino);
}

// Returns the environment variables that hwloc reads.
std::string hwloc_variables() {
  std::string text;
  // clearenv() sets environ to null.
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    if (std::string_view(*line).starts_with("HWLOC_")) text += fmt::format("{}\n", *line);
  }
  return text;
}

std::string host_name() {
  utsname names{};
  uname(&names);
  return names.nodename;
}

std::string state_of(const std::string& named, const System& system,
                     const StoredMachine::Environment& environment, const CgroupLimits& limits) {
  std::string state = fmt::format("stored machine of huddle {}\n", huddle_version());
  for (const char* const file :
       {"/proc/sys/kernel/random/boot_id", "/sys/devices/system/cpu/online"}) {
    state += system.read(file).value_or("") + '\n';
  }
  state += system.field("/proc/self/status", "Mems_allowed_list").value_or("") + '\n';
  state += limits.cpuset + '\n';
  state += environment.hwloc_variables;
  state += fmt::format("machine {}\n", named);
  if (is_toml_path(named)) state += version_of(named);
  for (const std::string& folder : environment.machine_folders) state += version_of(folder);
  return state + '\n';
}

// Reads a file that only this user can have written. Returns an empty text if there is none.
std::string own_text(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!file.is_open() || fstat(file.number(), &status) != 0) return {};
  constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
  const bool is_own = S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                      (status.st_mode & writable_by_others) == 0;
  if (!is_own || static_cast<std::size_t>(status.st_size) > most_file_bytes) return {};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t bytes =
        uninterrupted([&] { return read(file.number(), text.data() + have, text.size() - have); });
    if (bytes <= 0) return {};
    have += static_cast<std::size_t>(bytes);
  }
  return text;
}

// Splits off the first line. Returns nothing if there is no complete line.
std::optional<std::string_view> next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

}  // namespace

StoredMachine::Environment StoredMachine::Environment::own() {
  return {huddle::machine::cache_folder(), huddle::machine::hwloc_variables(),
          huddle::machine::machine_folders()};
}

StoredMachine::StoredMachine(const std::string& named, const System& system,
                             const Environment& environment, const CgroupLimits& limits)
    : path_(environment.cache_folder), state_(state_of(named, system, environment, limits)) {
  if (path_.empty()) return;
  // The nodes of a cluster may share the folder.
  path_ += fmt::format("machine-{:016x}", std::hash<std::string>()(host_name() + '\n' + named));
}

// The stored text begins with the state, the path of the machine file, and its version.
std::optional<std::string> StoredMachine::find() const noexcept {
  try {
    if (path_.empty()) return std::nullopt;
    const std::string stored = own_text(path_);
    if (!stored.starts_with(state_)) return std::nullopt;
    std::string_view rest = std::string_view(stored).substr(state_.size());
    const auto file = next_line(rest);
    if (!file) return std::nullopt;
    const std::string version = version_of(std::string(*file));
    if (!rest.starts_with(version)) return std::nullopt;
    return std::string(rest.substr(version.size()));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void StoredMachine::store(std::string_view text, const std::string& file) const noexcept {
  try {
    if (path_.empty()) return;
    write_text(fmt::format("{}{}\n{}{}", state_, file, version_of(file), text), path_);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace huddle::machine
