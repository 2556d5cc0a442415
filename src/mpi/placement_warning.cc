// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/placement_warning.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include "common/error.h"
#include "common/settings/settings.h"
#include "common/system.h"
#include "mpi/job_rank.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::mpi {
namespace {

using Environment = std::vector<std::string>;
using machine::CpuSet;

bool is_set(const Environment& environment, std::string_view name) {
  return !settings::value_of(environment, name).empty();
}

// Variables by which launchers report that the user has listed the cores. Open MPI 5 reports
// nothing. MPICH reports any -bind-to, whose value may be such a list.
constexpr std::array<std::string_view, 6> names_if_explicit = {
    "OMPI_MCA_hwloc_base_cpu_set",   "OMPI_MCA_hwloc_base_cpu_list", "OMPI_MCA_orte_rankfile",
    "OMPI_MCA_rmaps_rank_file_path", "HYDRA_USER_PROVIDED_BINDING",  "I_MPI_PIN_PROCESSOR_LIST"};

// Returns whether the user has chosen the cores of each rank. Slurm's mask_cpu is no such choice,
// because srun also passes its own bindings in that form.
bool is_binding_explicit(const Environment& environment) {
  const auto value = [&](std::string_view name) { return settings::value_of(environment, name); };
  return std::any_of(names_if_explicit.begin(), names_if_explicit.end(),
                     [&](std::string_view name) { return is_set(environment, name); }) ||
         value("OMPI_MCA_rmaps_base_mapping_policy").starts_with("hwthread") ||
         value("I_MPI_PIN_DOMAIN").starts_with("[") ||
         value("SLURM_CPU_BIND").find("map_cpu") != std::string::npos;
}

// Returns the command line that binds each rank to a core, for the launcher that started this
// process. Hydra and its relatives count the ranks of a node; srun may have started them.
std::string_view binding_command(const Environment& environment) {
  if (is_set(environment, "OMPI_COMM_WORLD_LOCAL_SIZE")) {
    return "'mpirun --bind-to core --map-by core'";
  }
  if (is_set(environment, "I_MPI_HYDRA_UUID")) {
    return "'mpirun -genv I_MPI_PIN=on -genv I_MPI_PIN_DOMAIN=core'";
  }
  if (is_set(environment, "MPI_LOCALNRANKS")) return "'mpiexec -bind-to core'";
  if (is_set(environment, "SLURM_STEP_NUM_TASKS")) return "'srun --cpu-bind=cores'";
  return "the binding option of your launcher";
}

std::string cores_text(int count) { return count == 1 ? "1 core" : fmt::format("{} cores", count); }

std::string cpus_text(const CpuSet& cpus) {
  return fmt::format("{} {}", cpus.count() == 1 ? "CPU" : "CPUs", cpus.text());
}

std::string ranks_text(std::span<const int> ranks, std::span<const int> in_job) {
  std::vector<int> names;
  for (const int rank : ranks) names.push_back(in_job[static_cast<std::size_t>(rank)]);
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks",
                     CpuSet(std::move(names)).text());
}

std::string shared_cores_text(const team::SharedCores& shared, const RankPlacement& placement,
                              const Environment& environment) {
  return fmt::format(
      "{} share {} ({}), while {} no rank of this job ({}); ranks on one core run in turns, "
      "so every collective is slow: bind each rank to its own core by {}, without another binding "
      "such as taskset",
      ranks_text(shared.ranks, placement.in_job), cores_text(shared.cores), cpus_text(shared.cpus),
      cores_text(shared.free_cores) + (shared.free_cores == 1 ? " has" : " have"),
      cpus_text(shared.free_cpus), binding_command(environment));
}

std::string remote_memory_text(const std::vector<int>& ranks, const team::MemoryNodes& first,
                               const RankPlacement& placement, const Environment& environment) {
  const std::span<const int> others = std::span(ranks).subspan(1);
  const std::string same =
      fmt::format(" (the data of {} are remote as well)", ranks_text(others, placement.in_job));
  return fmt::format(
      "{} runs on NUMA node {}, but {} of {} sampled pages of its data are on node {}{}; this "
      "slows every access: bind ranks before they allocate memory, by {}, and let each rank "
      "initialize its own data",
      ranks_text(std::span(ranks).first(1), placement.in_job), first.cpu_node, first.pages_there,
      first.pages, first.memory_node, others.empty() ? "" : same, binding_command(environment));
}

// Returns the ranks whose data are on another NUMA node, in the order of their ranks in the job.
std::vector<int> ranks_with_remote_memory(const RankPlacement& placement) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < placement.memory_nodes.size(); ++rank) {
    if (placement.memory_nodes[rank].are_remote()) ranks.push_back(static_cast<int>(rank));
  }
  std::sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return placement.in_job[static_cast<std::size_t>(a)] <
           placement.in_job[static_cast<std::size_t>(b)];
  });
  return ranks;
}

// Returns the number of the job's ranks on this node. If the launcher does not report it, as srun,
// returns the number of all ranks: a team of that size is on one node.
int ranks_on_node(int ranks_here, const Environment& environment) {
  if (ranks_here > 0) return ranks_here;
  const auto by = launched(environment);
  return by ? by->ranks : 0;
}

double allocated_cpus(const Environment& environment) {
  const auto cpus = whole_number(settings::value_of(environment, "SLURM_CPUS_ON_NODE"));
  return static_cast<double>(cpus.value_or(0));
}

}  // namespace

std::optional<std::string> placement_warning(const RankPlacement& placement, int rank,
                                             const Environment& environment) {
  const std::vector<int> remote = ranks_with_remote_memory(placement);
  const bool is_first_of_job = placement.in_job[static_cast<std::size_t>(rank)] == 0;
  const bool is_first_remote = !remote.empty() && remote.front() == rank;
  if ((!is_first_of_job && !is_first_remote) || is_binding_explicit(environment)) {
    return std::nullopt;
  }
  // Every rank that may print a warning makes this decision, so that only one does.
  const auto shared =
      team::find_shared_cores(placement.bindings, placement.topology, allocated_cpus(environment));
  if (shared && is_first_of_job) return shared_cores_text(*shared, placement, environment);
  if (shared || !is_first_remote) return std::nullopt;
  return remote_memory_text(remote, placement.memory_nodes[static_cast<std::size_t>(rank)],
                            placement, environment);
}

namespace {

// Returns the hardware threads that a file of the kernel lists; none if it cannot be read.
CpuSet listed_cpus(const System& system, const std::string& path) {
  try {
    return CpuSet::parse(system.read(path).value_or(""));
  } catch (const InputError&) {
    return {};
  }
}

// Returns the core of a hardware thread according to the topology.
CpuSet core_of(const machine::Topology& topology, int cpu) {
  const machine::Level* const cores = machine::find_level(topology, "core");
  if (cores == nullptr) return CpuSet({cpu});
  const auto core = std::find_if(cores->groups.begin(), cores->groups.end(),
                                 [cpu](const CpuSet& one) { return one.contains(cpu); });
  return core == cores->groups.end() ? CpuSet({cpu}) : *core;
}

}  // namespace

bool is_topology_of(const System& system, const machine::Topology& topology) {
  if (listed_cpus(system, "/sys/devices/system/cpu/online") != topology.pus) return false;
  const auto is_core_same = [&](int cpu) {
    const std::string path =
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu);
    return listed_cpus(system, path) == core_of(topology, cpu);
  };
  const auto is_node_same = [&](const machine::NumaNode& node) {
    const std::string path = fmt::format("/sys/devices/system/node/node{}/cpulist", node.number);
    return node.memory_only || listed_cpus(system, path) == node.cpus;
  };
  const auto& cpus = topology.pus.cpus();
  // The kernel may lack NUMA support if there is only one node.
  return std::all_of(cpus.begin(), cpus.end(), is_core_same) &&
         (topology.numa.size() <= 1 ||
          std::all_of(topology.numa.begin(), topology.numa.end(), is_node_same));
}

std::vector<int> PlacementCheck::sample(std::span<const std::byte> data,
                                        const machine::Topology& topology) const noexcept {
  const bool matters = topology.numa.size() > 1 && !is_done_.load() && !data.empty();
  if (!matters || !memory::allocates_on_own_node()) return {};
  try {
    return memory::sample_numa_nodes(data, team::sampled_pages);
  } catch (const std::exception&) {
    return {};  // the other ranks wait for this one in the set-up
  }
}

void PlacementCheck::check(const team::GroupConfiguration& group, const machine::Topology& topology,
                           std::span<const int> in_job, int rank) noexcept {
  const bool has_rank_0 = std::find(in_job.begin(), in_job.end(), 0) != in_job.end();
  if (!has_rank_0 || is_done_.load()) return;
  try {
    const Environment environment = settings::process_sources().environment;
    const auto ranks = static_cast<int>(in_job.size());
    if (ranks != ranks_on_node(ranks_here_, environment) || is_done_.exchange(true)) return;
    const auto warning = placement_warning(
        {group.cpu_bindings(), group.memory_nodes(), in_job, topology}, rank, environment);
    if (warning && is_topology_of(System(), topology)) warn_(*warning);
  } catch (const std::exception&) {
    return;  // a team has been set up, and its other ranks rely on this one
  }
}

}  // namespace huddle::mpi
