// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "common/cgroup_limits.h"

namespace huddle {
namespace {

// Version 1 writes "no limit" as the largest multiple of a page; no machine has this much.
constexpr double no_memory_limit_bytes = 4e18;

// One hierarchy of control groups and where this process stands in it.
struct Hierarchy {
  bool version_2 = false;
  std::string mount;  // "/sys/fs/cgroup/memory"
  std::string path;   // below the mount: "/job_17/step_0"; "" for the mount itself
};

bool lists(std::string_view words, std::string_view word) {
  std::size_t from = 0;
  while (from <= words.size()) {
    const std::size_t comma = std::min(words.find(',', from), words.size());
    if (words.substr(from, comma - from) == word) return true;
    from = comma + 1;
  }
  return false;
}

// What the kernel says of all hierarchies, read once.
struct Proc {
  explicit Proc(const System& system)
      : groups(system.lines("/proc/self/cgroup")), mounts(system.lines("/proc/self/mountinfo")) {}

  std::vector<std::string> groups;
  std::vector<std::string> mounts;
};

// /proc/self/cgroup: "4:memory:/job_17", and "0::/job_17" for version 2.
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

// Inside a container the mount shows only a part of the tree: its root is cut from the path.
std::string below_root(const std::string& path, const std::string& root) {
  if (root == "/") return path == "/" ? "" : path;
  return path.starts_with(root) ? path.substr(root.size()) : std::string();
}

// /proc/self/mountinfo: "35 31 0:31 ROOT MOUNT options ... - TYPE source SUPER_OPTIONS".
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

// Calls `visit` with the folder of the process's own group, then its parents up to the mount.
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

// "200000 100000": so many microseconds of each so many; "max" or -1 without a limit.
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
  // "" is version 2's single hierarchy; a machine may have both at once.
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

}  // namespace huddle
