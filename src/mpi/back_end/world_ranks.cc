// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/world_ranks.h"

#include <algorithm>
#include <numeric>

namespace huddle::mpi {

void WorldRanks::opened(Session session) {
  const std::lock_guard lock(mutex_);
  sessions_.push_back(session);
}

std::size_t WorldRanks::closed(Session session) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(sessions_.begin(), sessions_.end(), session);
  if (found != sessions_.end()) sessions_.erase(found);
  return sessions_.size();
}

bool WorldRanks::take_everybody(Group& everybody) {
  int initialized = 0;
  real_.initialized(&initialized);
  if (initialized != 0) return real_.comm_group(world_, &everybody) == success;
  const std::lock_guard lock(mutex_);
  return sessions_.size() == 1 &&
         real_.group_from_session_pset(sessions_.front(), "mpi://WORLD", &everybody) == success;
}

WorldRanks::Ranks WorldRanks::ranks_of(const Communicator& communicator) {
  Group everybody{};
  if (!take_everybody(everybody)) return {.passed = Route::no_world};
  Group group{};
  real_.comm_group(communicator.handle.load(), &group);
  std::vector<int> ranks(static_cast<std::size_t>(communicator.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> in_job(ranks.size(), undefined);
  real_.group_translate_ranks(group, communicator.ranks, ranks.data(), everybody, in_job.data());
  real_.group_free(&group);
  real_.group_free(&everybody);
  // Processes that were spawned are of another job than those that spawned them.
  const bool are_of_it = std::find(in_job.begin(), in_job.end(), undefined) == in_job.end();
  return {std::move(in_job), are_of_it ? Route::huddle : Route::several_worlds};
}

}  // namespace huddle::mpi
