// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/placement_check.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace huddle::team {
namespace {

using machine::CpuSet;
using machine::Topology;

constexpr int none = -1;

// The cores of a machine, numbered from 0, by hardware thread.
class Cores {
 public:
  explicit Cores(const Topology& topology)
      : of_cpu_(static_cast<std::size_t>(topology.pus.cpus().back()) + 1, none) {
    if (const machine::Level* level = machine::find_level(topology, "core")) {
      for (const CpuSet& core : level->groups) {
        for (const int cpu : core) of_cpu_[static_cast<std::size_t>(cpu)] = count_;
        ++count_;
      }
    }
    for (const int cpu : topology.pus) {
      int& core = of_cpu_[static_cast<std::size_t>(cpu)];
      if (core == none) core = count_++;
    }
  }

  // Returns the core of a hardware thread, or none if it is not in the topology.
  int of(int cpu) const {
    const auto index = static_cast<std::size_t>(cpu);
    return index < of_cpu_.size() ? of_cpu_[index] : none;
  }
  std::set<int> of(const CpuSet& cpus) const {
    std::set<int> cores;
    for (const int cpu : cpus) cores.insert(of(cpu));
    return cores;
  }
  int count() const { return count_; }

 private:
  std::vector<int> of_cpu_;
  int count_ = 0;
};

CpuSet cpus_in(const cpu_set_t& set) {
  const int count = CPU_COUNT(&set);
  std::vector<int> cpus;
  for (int cpu = 0; static_cast<int>(cpus.size()) < count; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return CpuSet(std::move(cpus));
}

// Gives each rank a core of its own in its binding, as far as possible: a maximum matching, found
// by augmenting paths in breadth-first order. Does not recurse, because a program's threads may
// have little stack.
class CoreAssignment {
 public:
  CoreAssignment(std::vector<std::vector<int>> cores_of, int cores)
      : cores_of_(std::move(cores_of)),
        core_of_(cores_of_.size(), none),
        rank_on_(static_cast<std::size_t>(cores), none) {
    for (int rank = 0; rank < static_cast<int>(cores_of_.size()); ++rank) place(rank);
  }

  // Returns the ranks that compete for too few cores: those without a core, and those that would
  // have to leave theirs to give them one.
  std::vector<int> competing() const {
    std::set<int> ranks;
    for (int rank = 0; rank < static_cast<int>(core_of_.size()); ++rank) {
      if (core_of_[static_cast<std::size_t>(rank)] != none) continue;
      for (const int one : search(rank).ranks) ranks.insert(one);
    }
    return {ranks.begin(), ranks.end()};
  }

 private:
  // The ranks that were reached from the first of them, and by core the rank from which the core
  // was reached.
  struct Search {
    std::vector<int> ranks;
    std::vector<int> reached_from;
    int free_core = none;  // a core without a rank, at which the search ended
  };

  Search search(int start) const {
    Search found{{start}, std::vector<int>(rank_on_.size(), none)};
    for (std::size_t next = 0; next < found.ranks.size(); ++next) {
      const int rank = found.ranks[next];
      for (const int core : cores_of_[static_cast<std::size_t>(rank)]) {
        int& from = found.reached_from[static_cast<std::size_t>(core)];
        if (from != none) continue;
        from = rank;
        const int occupant = rank_on_[static_cast<std::size_t>(core)];
        if (occupant == none) {
          found.free_core = core;
          return found;
        }
        found.ranks.push_back(occupant);
      }
    }
    return found;
  }

  // Moves each rank on the path to the next core of the path.
  void place(int rank) {
    const Search found = search(rank);
    for (int core = found.free_core; core != none;) {
      const int mover = found.reached_from[static_cast<std::size_t>(core)];
      rank_on_[static_cast<std::size_t>(core)] = mover;
      core = std::exchange(core_of_[static_cast<std::size_t>(mover)], core);
    }
  }

  std::vector<std::vector<int>> cores_of_;  // by rank
  std::vector<int> core_of_;                // by rank
  std::vector<int> rank_on_;                // by core
};

// The hardware threads on which ranks of a job may run, and those that the job may use.
struct JobCpus {
  CpuSet used;
  CpuSet of_job;
};

// Returns nothing if a binding is unknown.
std::optional<JobCpus> cpus_of_job(std::span<const CpuBinding> by_rank, const Topology& topology) {
  cpu_set_t used;
  CPU_ZERO(&used);
  cpu_set_t of_job = used;
  for (const CpuBinding& one : by_rank) {
    if (CPU_COUNT(&one.allowed) == 0 || CPU_COUNT(&one.at_start) == 0) return std::nullopt;
    CPU_OR(&used, &used, &one.allowed);
    CPU_OR(&of_job, &of_job, &one.at_start);
  }
  CPU_OR(&of_job, &of_job, &used);
  const JobCpus cpus{cpus_in(used), machine::common(cpus_in(of_job), topology.pus)};
  return topology.pus.contains(cpus.used) ? std::optional(cpus) : std::nullopt;
}

// Returns the number of CPUs that the job may use at a time, at most `cores`.
double usable_cpus(std::span<const CpuBinding> by_rank, double most_cpus, int cores) {
  double usable = cores;
  if (most_cpus > 0) usable = std::min(usable, most_cpus);
  for (const CpuBinding& one : by_rank) {
    if (one.processors > 0) usable = std::min(usable, one.processors);
  }
  return usable;
}

CpuSet cpus_without_cores(const CpuSet& cpus, const Cores& cores, const std::set<int>& excluded) {
  std::vector<int> remaining;
  for (const int cpu : cpus) {
    if (!excluded.contains(cores.of(cpu))) remaining.push_back(cpu);
  }
  return CpuSet(std::move(remaining));
}

std::vector<int> competing_ranks(std::span<const CpuBinding> by_rank, const Cores& cores) {
  std::vector<std::vector<int>> cores_of;
  for (const CpuBinding& one : by_rank) {
    const std::set<int> of_rank = cores.of(cpus_in(one.allowed));
    cores_of.emplace_back(of_rank.begin(), of_rank.end());
  }
  return CoreAssignment(std::move(cores_of), cores.count()).competing();
}

}  // namespace

std::optional<SharedCores> find_shared_cores(std::span<const CpuBinding> by_rank,
                                             const Topology& topology, double most_cpus) {
  if (by_rank.size() < 2 || topology.pus.empty()) return std::nullopt;
  const std::optional<JobCpus> cpus = cpus_of_job(by_rank, topology);
  if (!cpus) return std::nullopt;
  const Cores cores(topology);
  const std::set<int> used = cores.of(cpus->used);
  SharedCores shared;
  shared.free_cpus = cpus_without_cores(cpus->of_job, cores, used);
  const int free_cores = static_cast<int>(cores.of(shared.free_cpus).size());
  const int used_cores = static_cast<int>(used.size());
  const double usable = usable_cpus(by_rank, most_cpus, used_cores + free_cores);
  shared.free_cores = std::min(free_cores, static_cast<int>(usable) - used_cores);
  if (static_cast<double>(by_rank.size()) > usable || shared.free_cores <= 0) return std::nullopt;
  shared.ranks = competing_ranks(by_rank, cores);
  if (shared.ranks.empty()) return std::nullopt;
  for (const int rank : shared.ranks) {
    const CpuBinding& binding = by_rank[static_cast<std::size_t>(rank)];
    shared.cpus = machine::united(shared.cpus, cpus_in(binding.allowed));
  }
  shared.cores = static_cast<int>(cores.of(shared.cpus).size());
  return shared;
}

namespace {

// Returns the NUMA node that contains all hardware threads of the binding, or no_node.
int node_of(const CpuBinding& binding, const Topology& topology) {
  int node = MemoryNodes::no_node;
  const int count = CPU_COUNT(&binding.allowed);
  int found = 0;
  for (int cpu = 0; found < count; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &binding.allowed)) continue;
    ++found;
    const machine::NumaNode* home = machine::home_node(topology, cpu);
    if (home == nullptr) return MemoryNodes::no_node;
    if (node != MemoryNodes::no_node && node != home->number) return MemoryNodes::no_node;
    node = home->number;
  }
  return node;
}

bool has_hardware_threads(const Topology& topology, int node) {
  return std::any_of(topology.numa.begin(), topology.numa.end(), [&](const machine::NumaNode& one) {
    return one.number == node && !one.memory_only;
  });
}

}  // namespace

MemoryNodes memory_nodes(const CpuBinding& binding, const Topology& topology,
                         std::span<const int> page_nodes) noexcept {
  MemoryNodes nodes;
  if (page_nodes.empty()) return nodes;
  nodes.cpu_node = node_of(binding, topology);
  for (const int node : page_nodes) {
    if (!has_hardware_threads(topology, node)) continue;
    ++nodes.pages;
    const auto there = std::count(page_nodes.begin(), page_nodes.end(), node);
    if (there <= nodes.pages_there) continue;
    nodes.pages_there = static_cast<int>(there);
    nodes.memory_node = node;
  }
  return nodes;
}

}  // namespace huddle::team
