// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/cpu_binding.h"

#include <unistd.h>
#include <algorithm>

#include "common/error.h"

namespace huddle::team {
namespace {

std::vector<int> processors_in(const cpu_set_t& set) {
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) processors.push_back(cpu);
  }
  return processors;
}

bool meet(const cpu_set_t& a, const cpu_set_t& b) {
  cpu_set_t both;
  CPU_AND(&both, &a, &b);
  return CPU_COUNT(&both) > 0;
}

}  // namespace

CpuBinding cpu_binding_of_this_thread(double processors) {
  CpuBinding here;
  CPU_ZERO(&here.allowed);
  // Fails if the machine has more hardware threads than a cpu_set_t has bits. The set then remains
  // empty, which processors_of() accepts.
  sched_getaffinity(0, sizeof here.allowed, &here.allowed);
  here.processors = processors;
  return here;
}

// An affinity mask that the user set before the launcher, such as "taskset -c 0-3 mpirun", also
// restricts the launcher. The cgroup matters if the launcher is a service of the system, such as
// Slurm's.
cpu_set_t cpus_at_start(const CgroupLimits& limits) {
  cpu_set_t cpus{};
  const pid_t parent = getppid();
  // In a PID namespace, the parent is 0 if it is outside.
  if (parent == 0 || sched_getaffinity(parent, sizeof cpus, &cpus) != 0) return {};
  if (limits.cpuset.empty()) return cpus;
  cpu_set_t of_cgroup{};
  try {
    for (const int cpu : machine::CpuSet::parse(limits.cpuset)) {
      CPU_SET(static_cast<std::size_t>(cpu), &of_cgroup);
    }
  } catch (const InputError&) {
    return {};
  }
  CPU_AND(&cpus, &cpus, &of_cgroup);
  return cpus;
}

std::vector<int> processors_of(std::span<const CpuBinding> by_rank,
                               const machine::Topology& topology) {
  const std::vector<int>& known = topology.pus.cpus();
  std::vector<int> locality;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const cpu_set_t& allowed = by_rank[rank].allowed;
    std::size_t before = 0;  // lower ranks with the same binding
    for (std::size_t other = 0; other < rank; ++other) {
      if (CPU_EQUAL(&by_rank[other].allowed, &allowed)) ++before;
    }
    const std::vector<int> choice = processors_in(allowed);
    const int wish = choice.empty() ? static_cast<int>(before) : choice[before % choice.size()];
    const bool exists = topology.pus.contains(wish);
    locality.push_back(exists ? wish : known[static_cast<std::size_t>(wish) % known.size()]);
  }
  return locality;
}

bool has_own_processor(std::span<const CpuBinding> by_rank, int rank) {
  const cpu_set_t& mine = by_rank[static_cast<std::size_t>(rank)].allowed;
  const auto company = std::count_if(by_rank.begin(), by_rank.end(), [&](const CpuBinding& other) {
    return meet(other.allowed, mine);
  });
  return CPU_COUNT(&mine) == 1 && company == 1;
}

bool is_crowded(std::span<const CpuBinding> by_rank, int rank) {
  const CpuBinding& mine = by_rank[static_cast<std::size_t>(rank)];
  cpu_set_t reach = mine.allowed;
  int company = 0;  // ranks whose bindings overlap this rank's, including itself
  for (const CpuBinding& other : by_rank) {
    if (!meet(other.allowed, mine.allowed)) continue;
    CPU_OR(&reach, &reach, &other.allowed);
    ++company;
  }
  double processors = CPU_COUNT(&reach);
  if (mine.processors > 0 && mine.processors < processors) processors = mine.processors;
  return processors > 0 && company > processors;
}

bool is_crowded_by_all(const CpuBinding& mine, int processes_here, std::size_t processors) {
  const auto allowed = static_cast<std::size_t>(CPU_COUNT(&mine.allowed));
  return allowed >= processors && static_cast<std::size_t>(processes_here) > processors;
}

}  // namespace huddle::team
