// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/job_rank.h"

#include <sys/socket.h>
#include <array>
#include <cstdlib>
#include <string_view>

#include "common/settings/settings.h"
#include "common/system.h"

namespace huddle::mpi {
namespace {

// Variables that contain the rank. If another launcher started MPICH's launcher, each sets a
// variable; the inner launcher also passes a socket to the process.
constexpr std::array<std::string_view, 4> rank_names = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                                        "PMI_RANK", "SLURM_PROCID"};
constexpr std::string_view socket_name = "PMI_FD";
constexpr std::string_view rank_name_with_socket = "PMI_RANK";

// Each of these identifies a job by itself, rather than a whole allocation.
constexpr std::array<std::string_view, 3> job_names = {"PMIX_NAMESPACE", "SLURM_STEP_ID",
                                                       "PALS_APID"};
// Appended to make the names above unique: Open MPI 4's namespaces are short numbers, Slurm's steps
// count from 0 in each job, and spawned children form a job of their own.
constexpr std::array<std::string_view, 3> more_names = {"PMIX_SERVER_URI2", "SLURM_JOB_ID",
                                                        "PMI_SPAWNED"};

// Numbers of ranks on this node and in the job.
constexpr std::array<std::string_view, 2> here_names = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                                                        "MPI_LOCALNRANKS"};
constexpr std::array<std::string_view, 2> all_names = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

using Environment = std::vector<std::string>;

std::optional<int> number(const Environment& environment, std::string_view name) {
  const auto value = whole_number(settings::value_of(environment, name));
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

template <std::size_t size>
std::optional<int> first_number(const Environment& environment,
                                const std::array<std::string_view, size>& names) {
  for (const std::string_view name : names) {
    if (const auto value = number(environment, name)) return value;
  }
  return std::nullopt;
}

// Returns the PID of the process that created the socket to the launcher, or 0 if there is no
// socket or its credentials are not visible. MPICH's launcher does not name jobs, but its proxy
// process on each node creates the sockets of all its ranks.
pid_t maker_of_socket(const Environment& environment) {
  ucred maker{};
  socklen_t bytes = sizeof maker;
  const auto socket = number(environment, socket_name);
  if (!socket || getsockopt(*socket, SOL_SOCKET, SO_PEERCRED, &maker, &bytes) != 0) return 0;
  return maker.pid;
}

// Returns an identifier of the job, empty if no variable identifies it.
std::string job_of(const Environment& environment) {
  std::string job;
  for (const std::string_view name : job_names) job += settings::value_of(environment, name);
  const pid_t maker = maker_of_socket(environment);
  if (maker != 0) job += " " + std::to_string(maker);
  if (job.empty()) return job;
  for (const std::string_view name : more_names) job += " " + settings::value_of(environment, name);
  return job;
}

// Launchers, the innermost one first: srun may start the other launchers, once per node.
struct Sayer {
  std::string_view size_name;
  std::string_view words;
};
constexpr std::array<Sayer, 3> sayers = {
    {{"OMPI_COMM_WORLD_SIZE", "Open MPI's launcher"},
     {"PMI_SIZE", "a launcher of MPICH's family"},
     {"SLURM_STEP_NUM_TASKS", "srun (--mpi=pmix or --mpi=pmi2 may help)"}}};

}  // namespace

std::optional<JobRank> rank_in_job(const Environment& environment) {
  const auto nearest =
      number(environment, socket_name) ? number(environment, rank_name_with_socket) : std::nullopt;
  const auto rank = nearest ? nearest : first_number(environment, rank_names);
  JobRank place{.job = job_of(environment)};
  if (!rank || place.job.empty()) return std::nullopt;
  place.rank = *rank;
  const auto here = first_number(environment, here_names);
  place.ranks_here = here.value_or(0);
  place.all_here = here && here == first_number(environment, all_names);
  return place;
}

std::optional<Launched> launched(const Environment& environment) {
  for (const Sayer& sayer : sayers) {
    if (const auto ranks = number(environment, sayer.size_name)) return {{*ranks, sayer.words}};
  }
  return std::nullopt;
}

bool is_reporting_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

}  // namespace huddle::mpi
