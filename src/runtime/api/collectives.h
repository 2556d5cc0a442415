// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks of arguments and conversion of errors for the collectives of the C interface.
#pragma once

#include <cstddef>

#include "runtime/api/handles.h"
#include "runtime/memory/reduction.h"

namespace huddle::api {

// Convert a reduction of the C interface. Throw UsageError if the type, the operator or the
// user-defined reduction is invalid.
memory::Reduction reduction_of(huddle_type type, huddle_operator op);
memory::Reduction reduction_of(const huddle_reduction* reduction);

// Runs work(team). An exception other than Error occurs on this rank only: it abandons the team, so
// that the other ranks do not wait for it.
template <class Work>
void unless_it_fails_alone(team::Team& team, Work& work) {
  try {
    work(team);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    team.abandon(error.what());
    throw;
  }
}

template <class Work>
huddle_status collective(huddle_team* team, Work work) {
  if (team == nullptr) return HUDDLE_MISUSED;
  team->time_limit.begin_call();
  return status_of(&team->message, [&] { unless_it_fails_alone(team->team, work); });
}

inline void require_root(const team::Team& team, int root) {
  require(root >= 0 && root < team.ranks(), "the root is not a rank of the team");
}

}  // namespace huddle::api
