// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What this process itself may have: /proc/self/limits.
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

// A launcher holds several descriptors a rank; 1,024, the usual limit, is enough for 256 ranks.
constexpr long long least_open_files = 1024;
// What to raise it to: the largest nodes have about 1,024 processors.
constexpr long long enough_open_files = 4096;
// A network card's buffers and queues for one rank; vendors ask for "unlimited".
constexpr long long least_locked_bytes = 64LL * 1024 * 1024;

// "Max open files            1024                 524288               files".
// Nothing: unlimited, or not there.
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
  finding.found = !limit.known ? "not known"
                  : limit.soft ? fmt::format("{} a process", *limit.soft)
                               : "no limit";
  if (!limit.soft || *limit.soft >= least_open_files) return finding;
  finding.state = State::limited;
  finding.cost = "Jobs of many ranks on this node fail to start, or to connect.";
  const long long hard = whole_number(limit.hard).value_or(enough_open_files);
  const std::string for_everybody = fmt::format(
      "as root '* - nofile {0}' in /etc/security/limits.conf (services: LimitNOFILE={0})",
      enough_open_files);
  if (hard < least_open_files) {
    finding.remedy =
        fmt::format("The hard limit is {} too: {}, then log in again.", hard, for_everybody);
    return finding;
  }
  finding.remedy = fmt::format("For everybody: {}. For this shell:", for_everybody);
  finding.command = fmt::format("ulimit -n {}", std::min(hard, enough_open_files));
  return finding;
}

Finding check_locked(const System& system) {
  const Limit limit = limit_named(system, "Max locked memory");
  const bool card = !system.list("/sys/class/infiniband").empty();
  Finding finding{.id = "memlock", .group = std::string(limits_group), .what = "Locked memory"};
  finding.found = !limit.known ? "not known"
                  : limit.soft
                      ? fmt::format("{} a process", size_text(static_cast<double>(*limit.soft)))
                      : "no limit";
  if (!card) {
    finding.found += "; no network card here needs more";
    return finding;
  }
  if (!limit.soft || *limit.soft >= least_locked_bytes) return finding;
  finding.state = State::limited;
  finding.cost =
      "The network card cannot register memory: messages between nodes are slow or fail.";
  finding.remedy =
      "As root: '* - memlock unlimited' in /etc/security/limits.conf; for services "
      "LimitMEMLOCK=infinity.";
  return finding;
}

}  // namespace

std::vector<Finding> check_limits(const System& system) {
  return {check_files(system), check_locked(system)};
}

}  // namespace huddle::doctor
