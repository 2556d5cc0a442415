// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who of a job is on this node and has huddle: what can be known before any call that all ranks
// would have to make. Each process signs in before its MPI comes up, and no MPI comes up on one
// rank before all have begun with it: so after that, everybody sees the same.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "mpi/job_rank.h"

namespace huddle::mpi {

// For several threads. A name of a socket, which ends with the process: nothing is left of it.
class RollCall {
 public:
  // kind: what ranks need to have in common, so that they answer each other. No place: nobody can
  // sign in, and everybody is taken to be there.
  RollCall(std::optional<JobRank> place, const std::string& kind);

  void sign_in();
  // Where the MPI says that this is another rank than the launcher did: nobody shall meet it here.
  void confirm(int rank);

  bool is_here(int rank);
  // The lowest one that is here, who asks for all; nothing: that is not seen, or this rank would
  // not hear what it is told.
  std::optional<int> first_here(int ranks);
  // What the first one of so many ranks has found out, for the others that are here; once.
  void tell_others(int ranks, bool answer);
  // What the first one has told; nothing, once that has taken so long: whoever has its name need
  // not be the one that tells.
  std::optional<bool> hear(std::chrono::milliseconds limit);
  // Of the job, on this node; 0: unknown.
  int ranks_here() const { return place_ ? place_->ranks_here : 0; }
  std::optional<int> own_rank() const {
    return place_ ? std::optional(place_->rank) : std::nullopt;
  }
  // Whoever is missing is on this node all the same, without huddle.
  bool is_job_on_one_node() const { return place_ && place_->all_here; }

 private:
  std::string name_of(int rank) const;

  std::optional<JobRank> place_;
  std::string prefix_;
  std::mutex mutex_;  // guards what follows
  FileDescriptor own_;
  bool can_hear_ = false;   // its own name is its own
  FileDescriptor probe_;    // to look for others with
  std::vector<bool> seen_;  // by rank: who was there once stays
};

}  // namespace huddle::mpi
