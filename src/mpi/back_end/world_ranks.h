// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who the ranks of a communicator are in their job.
#pragma once

#include <mutex>
#include <vector>

#include "mpi/back_end/communicator.h"
#include "mpi/back_end/underlying_mpi.h"
#include "mpi/route.h"

namespace huddle::mpi {

// For several threads.
class WorldRanks {
 public:
  WorldRanks(const UnderlyingMpi& real, Comm world) : real_(real), world_(world) {}

  // The program's sessions: where there is no world, they know who is who.
  void opened(Session session);
  // How many are left.
  std::size_t closed(Session session);

  struct Ranks {
    std::vector<int> in_job = {};  // by rank of the communicator
    Route passed = Route::huddle;  // or why nothing can be said
  };
  Ranks ranks_of(const Communicator& communicator);

 private:
  // False where it cannot be told: of several sessions a communicator does not say whose it is, and
  // they must not be mixed.
  bool take_everybody(Group& everybody);

  const UnderlyingMpi& real_;
  Comm world_;
  std::mutex mutex_;  // guards what follows
  std::vector<Session> sessions_;
};

}  // namespace huddle::mpi
