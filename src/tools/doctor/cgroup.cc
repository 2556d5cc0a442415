// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/cgroup_limits.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/text.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/processors.h"

namespace huddle::doctor {
namespace {

// An MPI rank and its buffers want some hundred MB before the program has anything.
constexpr double least_memory_a_processor = 256.0 * 1024 * 1024;
// An MPI rank brings two to six helper threads; the launcher and the shell come on top.
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
  finding.cost =
      fmt::format("With one rank on each of {} processors the kernel may end the job.", processors);
  finding.remedy = "Ask for more memory: the batch system's --mem, or 'docker run --memory'.";
  return finding;
}

Finding judge_quota(const CgroupLimits& limits, int processors) {
  Finding finding{.id = "cgroup-cpu", .group = std::string(limits_group), .what = "Processor time"};
  if (!limits.processors) {
    finding.found = "no quota";
    return finding;
  }
  finding.found =
      fmt::format("{:.3g} of {} processors' time (cgroup)", *limits.processors, processors);
  if (*limits.processors >= processors) return finding;
  finding.state = State::limited;
  finding.cost =
      "More ranks than that are stopped together for the rest of every period, commonly 100 ms: "
      "all "
      "others wait for them.";
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
  finding.cost = fmt::format("Starting one rank on each of {} processors may fail.", processors);
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

}  // namespace huddle::doctor
