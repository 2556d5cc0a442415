// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Detects which of the job's ranks on this node run huddle, without a collective call. Each process
// announces itself before its MPI_Init, and no MPI_Init returns before all ranks have entered
// theirs, so all ranks see the same afterwards.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "mpi/job_rank.h"

namespace huddle::mpi {

// Each present rank binds an abstract socket name, which disappears with the process. Thread-safe.
class Presence {
 public:
  // Only ranks with the same `kind` see each other. If `place` is empty, this rank cannot announce
  // itself, and all ranks are assumed to be present.
  Presence(std::optional<JobRank> place, const std::string& kind);

  void announce_presence();
  // Hides this rank if the MPI's `rank` differs from the launcher's.
  void confirm(int rank);

  bool is_here(int rank);
  // Returns the lowest of `ranks` ranks that is present, which determines a result for all. Returns
  // nullopt if there is none, or if this rank cannot receive messages.
  std::optional<int> first_here(int ranks);
  // Sends the result of the lowest rank to the other present ones among `ranks` ranks. Call once,
  // on the lowest rank.
  void tell_others(int ranks, bool answer);
  // Receives the result of the lowest rank. Returns nullopt if none arrives within `limit`, for
  // example because another process has bound the lowest rank's name.
  std::optional<bool> hear(std::chrono::milliseconds limit);
  // Returns the number of the job's ranks on this node; 0: unknown.
  int ranks_here() const { return place_ ? place_->ranks_here : 0; }
  std::optional<int> own_rank() const {
    return place_ ? std::optional(place_->rank) : std::nullopt;
  }
  // Returns true if all ranks are on this node, so that missing ones run without huddle.
  bool is_job_on_one_node() const { return place_ && place_->all_here; }

 private:
  std::string name_of(int rank) const;

  std::optional<JobRank> place_;
  std::string prefix_;
  std::mutex mutex_;  // guards the members below
  FileDescriptor own_;
  bool can_hear_ = false;   // this process bound its name itself
  FileDescriptor probe_;    // to look for other ranks
  std::vector<bool> seen_;  // by rank; a rank that was present once stays so
};

}  // namespace huddle::mpi
