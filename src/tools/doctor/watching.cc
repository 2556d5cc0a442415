// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks how the memory accesses of a program's threads can be observed. Each mechanism was tried
// on this process.
#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "common/text.h"
#include "placement/threads/numa_balancing.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

constexpr std::string_view watching_group = "Watching threads";

Finding make_finding(std::string_view id, std::string_view what) {
  return {.id = std::string(id), .group = std::string(watching_group), .what = std::string(what)};
}

Finding check_page_faults(const threads::Trial& trial) {
  Finding finding = make_finding("page-faults", "Page faults");
  if (trial.works) {
    finding.found = "can be observed, with thread and address";
    return finding;
  }
  finding.state = State::limited;
  finding.found = trial.why_not;
  finding.cost = "huddle profile cannot observe which threads share pages.";
  finding.remedy = "Run as root, or give the container CAP_PERFMON:";
  finding.command = "sysctl kernel.perf_event_paranoid=2";
  return finding;
}

// BPF is an optional alternative source of the same page faults.
Finding check_bpf(const threads::Trial& trial) {
  Finding finding = make_finding("bpf", "Page faults by BPF");
  finding.found = trial.works ? "can also be observed: huddle profile --observer bpf"
                              : trial.why_not + "; not required";
  return finding;
}

Finding check_protection(const threads::Trial& trial) {
  Finding finding = make_finding("write-protection", "Observing writes");
  if (trial.works) {
    finding.found = fmt::format("by userfaultfd: {} per observed write; reads are not observed",
                                time_text(trial.fault_s * 1e9));
    return finding;
  }
  finding.state = State::limited;
  finding.found = trial.why_not;
  finding.cost =
      "Only a program's own page faults are observed, which are too few to show which threads "
      "share pages.";
  finding.remedy = "Use Linux 6.7 or newer, with CONFIG_USERFAULTFD.";
  return finding;
}

// Reports on soft-dirty bits, which huddle does not need.
Finding check_soft_dirty(const threads::Trial& trial) {
  Finding finding = make_finding("soft-dirty", "Soft-dirty bits");
  finding.found = trial.works ? "work, but userfaultfd shows more and is used instead"
                              : fmt::format("no effect ({}); not required", trial.why_not);
  return finding;
}

// Reports the number of faults, because the setting alone does not show whether NUMA balancing has
// an effect. The check does not turn it on.
Finding check_hinting_faults(const System& system) {
  Finding finding = make_finding("hinting-faults", "Observing reads");
  const auto value = system.number("/proc/sys/kernel/numa_balancing");
  if (!value) {
    finding.found = "not possible: this kernel has no NUMA balancing; not required";
    return finding;
  }
  const std::uint64_t faults = threads::hinting_faults(system.at("/proc/vmstat"));
  const std::string so_far =
      faults == 0 ? "it has caused no page fault since this machine was started"
                  : fmt::format("it has caused {} since this machine was started",
                                counted(static_cast<long long>(faults), "page fault"));
  finding.found = *value == 0 ? "only by NUMA balancing, which is off: --allow-sysctl of huddle "
                                "watch, profile and run turns it on meanwhile (requires root); " +
                                    so_far
                              : "by NUMA balancing, which is on: " + so_far;
  return finding;
}

}  // namespace

std::vector<Finding> check_watching(const WaysToWatch& ways, const System& system) {
  std::vector<Finding> all = {check_page_faults(ways.page_faults),
                              check_protection(ways.protection), check_soft_dirty(ways.soft_dirty),
                              check_hinting_faults(system), check_bpf(ways.bpf)};
  if (ways.repaired.values > 0) {
    Finding finding = make_finding("balancing-left", "NUMA balancing");
    finding.found = "a killed huddle had left it on: it has been restored";
    all.push_back(std::move(finding));
  }
  if (ways.repaired.threads > 0) {
    Finding finding = make_finding("bound-threads", "Bound threads");
    finding.found =
        fmt::format("a killed huddle had left {} bound: their CPU affinity has been restored",
                    counted(ways.repaired.threads, "thread"));
    all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace huddle::doctor
