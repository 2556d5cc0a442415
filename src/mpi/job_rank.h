// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where a process stands among the ranks of its job, as its launcher told it: known before MPI
// comes up.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::mpi {

struct JobRank {
  std::string job = {};   // alike for the job's ranks on this node, and for nobody else there
  int rank = 0;           // in its world
  int ranks_here = 0;     // on this node; 0: the launcher does not say
  bool all_here = false;  // all of its world is on this node, and the launcher says so
};

// From an environment of "NAME=value" lines. Nothing where it does not say which rank of what this
// is: without a launcher, or with one that huddle does not know.
std::optional<JobRank> rank_in_job(const std::vector<std::string>& environment);

// How many ranks a launcher says that it has started, and whose launcher it is, in words. An MPI
// that does not know this launcher takes each of them for a program of its own.
struct Launched {
  int ranks = 0;
  std::string_view by;
};
std::optional<Launched> launched(const std::vector<std::string>& environment);

// Of the ranks of a job only one speaks, and it has to be told before MPI says who is who.

// By what launchers put into the environment; a process that none launched speaks for itself.
bool is_speaker();

}  // namespace huddle::mpi
