// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "common/system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>

#include "common/text.h"

namespace huddle {
namespace {

constexpr std::string_view white = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

}  // namespace

bool System::exists(std::string_view path) const {
  std::error_code ignored;
  return std::filesystem::exists(at(path), ignored);
}

// Uses system calls because C++ streams are several times slower, and each rank reads dozens of
// files at start-up.
std::optional<std::string> System::read(std::string_view path) const {
  const int file = open(at(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  // Reads into the heap, because application threads may have small stacks.
  constexpr std::size_t chunk_bytes = 4096;
  std::string text;
  std::size_t size = 0;
  ssize_t bytes = 0;
  do {
    text.resize(size + chunk_bytes);
    bytes = ::read(file, text.data() + size, chunk_bytes);
    if (bytes > 0) size += static_cast<std::size_t>(bytes);
  } while (bytes > 0 || (bytes < 0 && errno == EINTR));
  close(file);
  if (bytes < 0) return std::nullopt;
  text.resize(size);
  text.erase(text.find_last_not_of(white) + 1);
  return text;
}

std::vector<std::string> System::lines(std::string_view path) const {
  const std::string text = read(path).value_or("");
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::optional<long long> System::number(std::string_view path) const {
  return whole_number(read(path).value_or(""));
}

std::optional<std::string> System::field(std::string_view path, std::string_view key) const {
  for (const std::string& line : lines(path)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (trimmed(line.substr(0, colon)) == key) return std::string(trimmed(line.substr(colon + 1)));
  }
  return std::nullopt;
}

std::vector<std::string> System::list(std::string_view path) const {
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(at(path), ignored)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<long long> whole_number(std::string_view text) {
  long long value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> all;
  std::size_t at = line.find_first_not_of(white);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(white, at), line.size());
    all.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(white, end);
  }
  return all;
}

std::string chosen_word(std::string_view line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return std::string(line.substr(open + 1, close - open - 1));
}

namespace {

// cgroup v1 represents "no limit" by the largest multiple of the page size. No machine has 4 EB.
constexpr double no_memory_limit_bytes = 4e18;

// A cgroup hierarchy and the position of this process in it.
struct Hierarchy {
  bool version_2 = false;
  std::string mount;  // "/sys/fs/cgroup/memory"
  std::string path;   // below the mount: "/job_17/step_0"; "" for the mount itself
};

bool lists(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> all = split(words, ',');
  return std::find(all.begin(), all.end(), word) != all.end();
}

// The kernel's lists of cgroups and mounts, read once.
struct Proc {
  explicit Proc(const System& system)
      : groups(system.lines("/proc/self/cgroup")), mounts(system.lines("/proc/self/mountinfo")) {}

  std::vector<std::string> groups;
  std::vector<std::string> mounts;
};

// Parses /proc/self/cgroup: "4:memory:/job_17", and "0::/job_17" for version 2.
std::optional<std::string> path_in(const Proc& proc, std::string_view controller) {
  for (const std::string& line : proc.groups) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool match = controller.empty() ? controllers.empty() : lists(controllers, controller);
    if (match) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Returns the path relative to the mount's root. Containers mount only a part of the tree.
std::string below_root(const std::string& path, const std::string& root) {
  if (root == "/") return path == "/" ? "" : path;
  return path.starts_with(root) ? path.substr(root.size()) : std::string();
}

// Parses /proc/self/mountinfo: "35 31 0:31 ROOT MOUNT options ... - TYPE source SUPER_OPTIONS".
std::optional<Hierarchy> hierarchy(const Proc& proc, std::string_view controller) {
  const bool version_2 = controller.empty();
  const std::optional<std::string> path = path_in(proc, controller);
  if (!path) return std::nullopt;
  for (const std::string& line : proc.mounts) {
    if (line.find(" - cgroup") == std::string::npos) continue;
    const std::vector<std::string> fields = words(line);
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || fields.end() - dash < 4) continue;
    const bool match =
        version_2 ? dash[1] == "cgroup2" : dash[1] == "cgroup" && lists(dash[3], controller);
    if (match) return Hierarchy{version_2, fields[4], below_root(*path, fields[3])};
  }
  return std::nullopt;
}

// Calls `visit` with the folder of the process's own cgroup, then with its parents up to the mount.
void walk_up(const Hierarchy& where, const std::function<void(const std::string&)>& visit) {
  std::string path = where.path;
  while (true) {
    visit(where.mount + path);
    if (path.empty()) return;
    path.erase(path.rfind('/'));
  }
}

template <typename Value>
void tighten(std::optional<Value>& limit, std::optional<Value> seen) {
  if (seen && (!limit || *seen < *limit)) limit = seen;
}

std::optional<double> memory_limit(const System& system, const std::string& file) {
  const std::optional<long long> bytes = system.number(file);
  if (!bytes || static_cast<double>(*bytes) > no_memory_limit_bytes) return std::nullopt;
  return static_cast<double>(*bytes);
}

// Returns a CPU quota in hardware threads: CPU time per period, such as 2 for "200000 100000".
// Returns nothing for "max" or -1, which mean no limit.
std::optional<double> quota(std::optional<long long> quota_us, std::optional<long long> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

std::optional<double> quota_2(const System& system, const std::string& file) {
  const std::vector<std::string> fields = words(system.read(file).value_or(""));
  if (fields.size() != 2) return std::nullopt;
  return quota(whole_number(fields[0]), whole_number(fields[1]));
}

void read_group_2(const System& system, const std::string& folder, CgroupLimits& limits) {
  tighten(limits.memory_bytes, memory_limit(system, folder + "/memory.max"));
  tighten(limits.processors, quota_2(system, folder + "/cpu.max"));
  tighten(limits.tasks, system.number(folder + "/pids.max"));
  if (limits.cpuset.empty()) {
    limits.cpuset = system.read(folder + "/cpuset.cpus.effective").value_or("");
  }
}

void read_group_1(const System& system, std::string_view controller, const std::string& folder,
                  CgroupLimits& limits) {
  if (controller == "memory") {
    tighten(limits.memory_bytes, memory_limit(system, folder + "/memory.limit_in_bytes"));
  } else if (controller == "cpu") {
    tighten(limits.processors, quota(system.number(folder + "/cpu.cfs_quota_us"),
                                     system.number(folder + "/cpu.cfs_period_us")));
  } else if (controller == "pids") {
    tighten(limits.tasks, system.number(folder + "/pids.max"));
  } else if (limits.cpuset.empty()) {
    limits.cpuset = system.read(folder + "/cpuset.effective_cpus").value_or("");
  }
}

}  // namespace

CgroupLimits read_cgroup_limits(const System& system) {
  CgroupLimits limits;
  const Proc proc(system);
  // "" denotes the single hierarchy of version 2; a machine may use both versions at once.
  for (const std::string_view controller : {"", "memory", "cpu", "pids", "cpuset"}) {
    const std::optional<Hierarchy> where = hierarchy(proc, controller);
    if (!where) continue;
    limits.found = true;
    walk_up(*where, [&](const std::string& folder) {
      if (where->version_2) {
        read_group_2(system, folder, limits);
      } else {
        read_group_1(system, controller, folder, limits);
      }
    });
  }
  return limits;
}

bool may_share_huge_pages(const System& system) {
  const std::string chosen = chosen_word(system.read(shared_huge_pages_file).value_or(""));
  return chosen == "always" || chosen == "within_size" || chosen == "advise" || chosen == "force";
}

}  // namespace huddle
