// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/processors.h"

#include <fmt/format.h>

#include "common/cgroup_limits.h"
#include "common/error.h"
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

// Is it the cgroup, or a mask that somebody set?
bool cpuset_restricts(const System& system, const machine::CpuSet& online) {
  const machine::CpuSet cpuset = parse_or_empty(read_cgroup_limits(system).cpuset);
  return !cpuset.empty() && !cpuset.contains(online);
}

void add_remedy(const System& system, const machine::CpuSet& online, Finding& finding) {
  if (cpuset_restricts(system, online)) {
    finding.remedy =
        "Ask the batch system for more processors or the whole node (Slurm: --exclusive), or "
        "'docker run --cpuset-cpus'.";
    return;
  }
  finding.remedy = "Remove what set the affinity mask, or lift it for this shell:";
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
  Finding finding{.id = "affinity", .group = std::string(limits_group), .what = "Processors"};
  const machine::CpuSet online = online_processors(system);
  const machine::CpuSet allowed = allowed_processors(system);
  if (online.empty() || allowed.empty()) {
    finding.found = "the kernel does not say which may be used";
    return {finding};
  }
  if (allowed.contains(online)) {
    finding.found = fmt::format("all {} may be used ({})", online.count(), online.text());
    return {finding};
  }
  finding.state = State::limited;
  finding.found = fmt::format("{} of {} may be used ({} of {})", allowed.count(), online.count(),
                              allowed.text(), online.text());
  finding.cost = "Programs started from here, and what huddle measures, see only these.";
  add_remedy(system, online, finding);
  return {finding};
}

}  // namespace huddle::doctor
