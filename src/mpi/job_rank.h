// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The position of a process among the ranks of its job, as set by its launcher. It is available
// before MPI_Init.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::mpi {

struct JobRank {
  std::string job = {};   // the same on all ranks of the job on this node, and on no other process
                          // there
  int rank = 0;           // in MPI_COMM_WORLD
  int ranks_here = 0;     // on this node; 0: unknown
  bool all_here = false;  // the launcher reports that the whole job is on this node
};

// Finds the rank in an environment of "NAME=value" lines. Returns nullopt if the environment does
// not identify both the rank and its job: without a launcher, or with one that huddle does not
// support.
std::optional<JobRank> rank_in_job(const std::vector<std::string>& environment);

// The number of ranks that a launcher has started, and the launcher's description for messages. An
// MPI that does not support this launcher runs each rank as a singleton.
struct Launched {
  int ranks = 0;
  std::string_view by;
};
std::optional<Launched> launched(const std::vector<std::string>& environment);

// Returns whether this process prints huddle's messages: rank 0 of the job according to the
// launcher's variables, because messages may come before MPI_Init, or any process that no launcher
// started.
bool is_speaker();

}  // namespace huddle::mpi
