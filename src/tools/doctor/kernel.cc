// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks of the kernel: activity that disturbs programs, and what programs may observe.
#include <fmt/format.h>

#include <algorithm>

#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

constexpr std::string_view kernel_group = "Kernel";

// Maximum kernel.perf_event_paranoid with which users may observe the page faults of their
// processes.
constexpr long long most_paranoid = 2;

int numa_nodes(const System& system) {
  const std::vector<std::string> names = system.list("/sys/devices/system/node");
  return static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("node") && whole_number(name.substr(4));
  }));
}

Finding check_numa_balancing(const System& system) {
  Finding finding{
      .id = "numa-balancing", .group = std::string(kernel_group), .what = "NUMA balancing"};
  const auto value = system.number("/proc/sys/kernel/numa_balancing");
  const int nodes = std::max(1, numa_nodes(system));
  if (!value || *value == 0) {
    finding.found = value ? "off" : "not in this kernel";
    return finding;
  }
  finding.state = State::limited;
  finding.command = "sysctl kernel.numa_balancing=0";
  // NUMA balancing unmaps pages periodically even with a single node, where it cannot move them.
  if (nodes == 1) {
    finding.found = "on, although there is one NUMA node";
    finding.cost =
        "The kernel unmaps pages to observe their use, which causes useless page "
        "faults.";
    finding.remedy = "As root:";
    return finding;
  }
  finding.found = fmt::format("on, with {} NUMA nodes", nodes);
  finding.cost =
      "The kernel unmaps pages to observe their use, and moves them: page faults occur during "
      "collectives, and buffers leave the node on which they were placed.";
  finding.remedy =
      "Bind the program's memory (numactl --localalloc does for one program), or as root:";
  return finding;
}

Finding check_perf(const System& system) {
  Finding finding{.id = "perf", .group = std::string(kernel_group), .what = "Performance events"};
  const auto value = system.number("/proc/sys/kernel/perf_event_paranoid");
  if (value && *value <= most_paranoid) {
    finding.found =
        fmt::format("perf_event_paranoid is {}: users may observe their own processes", *value);
    return finding;
  }
  finding.state = State::limited;
  finding.found =
      value ? fmt::format("perf_event_paranoid is {}: root only", *value) : "not in this kernel";
  finding.cost =
      "huddle cannot observe which threads share pages, so it cannot move them closer together.";
  if (value) {
    finding.remedy = "Run as root; add it to /etc/sysctl.d/ to make it permanent:";
    finding.command = fmt::format("sysctl kernel.perf_event_paranoid={}", most_paranoid);
  } else {
    finding.remedy = "Use a kernel with CONFIG_PERF_EVENTS.";
  }
  return finding;
}

Finding check_governor(const System& system) {
  Finding finding{
      .id = "governor", .group = std::string(kernel_group), .what = "CPU frequency governor"};
  const std::string folder = "/sys/devices/system/cpu/cpu0/cpufreq";
  const auto governor = system.read(folder + "/scaling_governor");
  if (!governor) {
    finding.found = "none: the frequency cannot be set here";
    return finding;
  }
  const std::string driver = system.read(folder + "/scaling_driver").value_or("unknown driver");
  finding.found = fmt::format("{} ({})", *governor, driver);
  // In these drivers "powersave" is the normal mode, which follows the load.
  const bool dynamic_powersave = driver == "intel_pstate" || driver.starts_with("amd-pstate");
  if (*governor != "powersave" || dynamic_powersave) return finding;
  finding.state = State::limited;
  finding.cost = "Cores stay at their lowest frequency: programs and measurements are slower.";
  finding.remedy = "As root:";
  finding.command = "cpupower frequency-set -g performance";
  return finding;
}

// Returns whether a release such as "7.2.0-rc1" is at least major.minor.
bool at_least(const std::string& release, long long major, long long minor) {
  const std::size_t dot = release.find('.');
  if (dot == std::string::npos) return false;
  const std::size_t end = release.find_first_not_of("0123456789", dot + 1);
  const auto has_major = whole_number(release.substr(0, dot));
  const auto has_minor = whole_number(release.substr(dot + 1, end - dot - 1));
  if (!has_major || !has_minor) return false;
  return *has_major > major || (*has_major == major && *has_minor >= minor);
}

// Since Linux 7.2 the scheduler can move the threads of one process to one cache itself.
std::string cache_aware_text(const System& system, const std::string& release) {
  const auto enabled = system.read("/sys/kernel/debug/sched/llc_balancing/enabled");
  if (enabled) {
    const bool off = *enabled == "0" || *enabled == "N";
    return off ? "; cache-aware scheduling is off"
               : "; cache-aware scheduling is on: it moves threads of a process closer together";
  }
  return at_least(release, 7, 2) ? "; cache-aware scheduling: only root can see whether it is on"
                                 : "";
}

Finding check_scheduler(const System& system) {
  Finding finding{.id = "scheduler", .group = std::string(kernel_group), .what = "Scheduler"};
  const std::string release = system.read("/proc/sys/kernel/osrelease").value_or("unknown");
  const std::string isolated = system.read("/sys/devices/system/cpu/isolated").value_or("");
  finding.found = fmt::format("Linux {}{}", release, cache_aware_text(system, release));
  if (!isolated.empty())
    finding.found += fmt::format("; hardware threads {} are isolated", isolated);
  return finding;
}

}  // namespace

std::vector<Finding> check_kernel(const System& system) {
  return {check_numa_balancing(system), check_scheduler(system), check_governor(system),
          check_perf(system)};
}

}  // namespace huddle::doctor
