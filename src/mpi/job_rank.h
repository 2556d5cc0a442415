// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A process's position in its job, as set by its launcher and known before MPI_Init.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::mpi {

struct JobRank {
  std::string job = {};   // identifies the job; equal on its ranks on this node
  int rank = 0;           // in MPI_COMM_WORLD
  int ranks_here = 0;     // on this node; 0: unknown
  bool all_here = false;  // the launcher reports that the whole job is on this node
};

// Finds the rank in an environment of "NAME=value" lines. Returns nullopt if the environment does
// not identify both rank and job, because there is no launcher or an unsupported one.
std::optional<JobRank> rank_in_job(const std::vector<std::string>& environment);

// The number of ranks that a launcher has started, and the launcher's description for messages. An
// MPI that does not support this launcher runs each rank as a singleton.
struct Launched {
  int ranks = 0;
  std::string_view by;
};
std::optional<Launched> launched(const std::vector<std::string>& environment);

// Returns whether this process prints huddle's messages: rank 0 by the launcher's variables
// (messages may come before MPI_Init), or a process without a launcher.
bool is_reporting_rank();

}  // namespace huddle::mpi
