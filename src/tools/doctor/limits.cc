// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks of limits: usable hardware threads, the cgroup, and /proc/self/limits.

#include <fmt/format.h>
#include <algorithm>

#include "common/error.h"
#include "common/system.h"
#include "common/text.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

machine::CpuSet parse_or_empty(const std::string& list) {
  try {
    return machine::CpuSet::parse(list);
  } catch (const InputError&) {
    return {};
  }
}

// Returns whether the cpuset restricts the process, as opposed to an affinity mask.
bool cpuset_restricts(const System& system, const machine::CpuSet& online) {
  const machine::CpuSet cpuset = parse_or_empty(read_cgroup_limits(system).cpuset);
  return !cpuset.empty() && !cpuset.contains(online);
}

void add_remedy(const System& system, const machine::CpuSet& online, Finding& finding) {
  if (cpuset_restricts(system, online)) {
    finding.remedy =
        "Request more cores or the whole node from the batch system (Slurm: --exclusive), or use "
        "'docker run --cpuset-cpus'.";
    return;
  }
  finding.remedy = "Remove the cause of this affinity mask, or reset it for this shell:";
  finding.command = fmt::format("taskset -apc {} $$", online.text());
}

}  // namespace

machine::CpuSet online_processors(const System& system) {
  return parse_or_empty(system.read("/sys/devices/system/cpu/online").value_or(""));
}

machine::CpuSet allowed_processors(const System& system) {
  return parse_or_empty(system.field("/proc/self/status", "Cpus_allowed_list").value_or(""));
}

std::vector<Finding> check_processors(const System& system) {
  Finding finding{.id = "affinity", .group = std::string(limits_group), .what = "Hardware threads"};
  const machine::CpuSet online = online_processors(system);
  const machine::CpuSet allowed = allowed_processors(system);
  if (online.empty() || allowed.empty()) {
    finding.found = "unknown which ones may be used";
    return {finding};
  }
  if (allowed.contains(online)) {
    finding.found = fmt::format("all {} may be used ({})", online.count(), online.text());
    return {finding};
  }
  finding.state = State::limited;
  finding.found = fmt::format("{} of {} may be used ({} of {})", allowed.count(), online.count(),
                              allowed.text(), online.text());
  finding.cost = "Programs started from here, and measurements of huddle, use only these.";
  add_remedy(system, online, finding);
  return {finding};
}

namespace {

// An MPI rank and its buffers need a few hundred MB before the program allocates anything.
constexpr double least_memory_a_processor = 256.0 * 1024 * 1024;
// An MPI rank has two to six helper threads. The launcher and the shell need some as well.
constexpr long long least_tasks_a_processor = 8;

Finding judge_memory(const CgroupLimits& limits, double machine_bytes, int processors) {
  Finding finding{.id = "cgroup-memory", .group = std::string(limits_group), .what = "Memory"};
  const std::string machine = size_text(machine_bytes);
  if (!limits.memory_bytes || *limits.memory_bytes >= machine_bytes) {
    finding.found = fmt::format("all of the machine's {}", machine);
    return finding;
  }
  finding.found = fmt::format("{} of {} (cgroup)", size_text(*limits.memory_bytes), machine);
  if (*limits.memory_bytes >= least_memory_a_processor * processors) return finding;
  finding.state = State::limited;
  finding.cost = fmt::format(
      "With one rank on each of {} hardware threads, the kernel may end the job.", processors);
  finding.remedy = "Request more memory: --mem of the batch system, or 'docker run --memory'.";
  return finding;
}

Finding judge_quota(const CgroupLimits& limits, int processors) {
  Finding finding{.id = "cgroup-cpu", .group = std::string(limits_group), .what = "CPU time"};
  if (!limits.processors) {
    finding.found = "no quota";
    return finding;
  }
  finding.found = fmt::format("the time of {:.3g} of {} hardware threads (cgroup)",
                              *limits.processors, processors);
  if (*limits.processors >= processors) return finding;
  finding.state = State::limited;
  finding.cost =
      "More ranks than that are stopped together for the rest of every period, usually 100 ms, and "
      "all others wait for them.";
  finding.remedy = fmt::format(
      "Start at most {} ranks, or raise the quota: cpu.max of the cgroup, "
      "'docker run --cpus'.",
      std::max(1, static_cast<int>(*limits.processors)));
  return finding;
}

Finding judge_tasks(const CgroupLimits& limits, int processors) {
  Finding finding{
      .id = "cgroup-pids", .group = std::string(limits_group), .what = "Processes and threads"};
  if (!limits.tasks) {
    finding.found = "no limit from a cgroup";
    return finding;
  }
  finding.found = fmt::format("at most {} (cgroup)", *limits.tasks);
  if (*limits.tasks >= least_tasks_a_processor * processors) return finding;
  finding.state = State::limited;
  finding.cost =
      fmt::format("Starting one rank on each of {} hardware threads may fail.", processors);
  finding.remedy = "Raise pids.max of the cgroup, or 'docker run --pids-limit'.";
  return finding;
}

double machine_memory(const System& system) {
  const auto fields = words(system.field("/proc/meminfo", "MemTotal").value_or(""));
  const auto kilobytes = fields.empty() ? std::nullopt : whole_number(fields[0]);
  return static_cast<double>(kilobytes.value_or(0)) * 1024;
}

}  // namespace

std::vector<Finding> check_cgroup(const System& system) {
  const CgroupLimits limits = read_cgroup_limits(system);
  const int processors = allowed_processors(system).count();
  return {judge_memory(limits, machine_memory(system), processors), judge_quota(limits, processors),
          judge_tasks(limits, processors)};
}

namespace {

// A launcher needs several descriptors per rank; 1,024, the usual limit, is enough for 256 ranks.
constexpr long long least_open_files = 1024;
// The recommended value: the largest nodes have about 1,024 hardware threads.
constexpr long long enough_open_files = 4096;
// The buffers and queues of a network card for one rank; vendors recommend "unlimited".
constexpr long long least_locked_bytes = 64LL * 1024 * 1024;

// A limit from a line of /proc/self/limits, such as
//   Max open files            1024                 524288               files
// `soft` is nothing if the limit is unlimited or missing.
struct Limit {
  bool known = false;
  std::optional<long long> soft;
  std::string hard;
};

Limit limit_named(const System& system, const std::string& name) {
  for (const std::string& line : system.lines("/proc/self/limits")) {
    if (!line.starts_with(name + " ")) continue;
    const std::vector<std::string> fields = words(line.substr(name.size()));
    if (fields.size() < 2) continue;
    return {true, whole_number(fields[0]), fields[1]};
  }
  return {};
}

Finding check_files(const System& system) {
  const Limit limit = limit_named(system, "Max open files");
  Finding finding{.id = "nofile", .group = std::string(limits_group), .what = "Open files"};
  finding.found = !limit.known ? "unknown"
                  : limit.soft ? fmt::format("{} per process", *limit.soft)
                               : "no limit";
  if (!limit.soft || *limit.soft >= least_open_files) return finding;
  finding.state = State::limited;
  finding.cost = "Jobs with many ranks on this node fail to start or to connect.";
  const long long hard = whole_number(limit.hard).value_or(enough_open_files);
  const std::string for_everybody = fmt::format(
      "as root '* - nofile {0}' in /etc/security/limits.conf (services: LimitNOFILE={0})",
      enough_open_files);
  if (hard < least_open_files) {
    finding.remedy =
        fmt::format("The hard limit is {} too: {}, then log in again.", hard, for_everybody);
    return finding;
  }
  finding.remedy = fmt::format("For all users: {}. For this shell:", for_everybody);
  finding.command = fmt::format("ulimit -n {}", std::min(hard, enough_open_files));
  return finding;
}

Finding check_locked(const System& system) {
  const Limit limit = limit_named(system, "Max locked memory");
  const bool card = !system.list("/sys/class/infiniband").empty();
  Finding finding{.id = "memlock", .group = std::string(limits_group), .what = "Locked memory"};
  finding.found = !limit.known ? "unknown"
                  : limit.soft
                      ? fmt::format("{} per process", size_text(static_cast<double>(*limit.soft)))
                      : "no limit";
  if (!card) {
    finding.found += "; no network card here requires more";
    return finding;
  }
  if (!limit.soft || *limit.soft >= least_locked_bytes) return finding;
  finding.state = State::limited;
  finding.cost =
      "The network card cannot register memory: messages between nodes are slow or fail.";
  finding.remedy =
      "Add '* - memlock unlimited' to /etc/security/limits.conf as root; for services set "
      "LimitMEMLOCK=infinity.";
  return finding;
}

}  // namespace

std::vector<Finding> check_limits(const System& system) {
  return {check_files(system), check_locked(system)};
}

}  // namespace huddle::doctor
