// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What has to be equal on all ranks before a team can choose anything: agreed on when it is made.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "team/bootstrap.h"
#include "team/context.h"
#include "team/seating.h"

namespace huddle::team {

// What each rank says of itself.
struct Statement {
  Whereabouts whereabouts;
  std::size_t queue_bytes = 0;
  std::size_t machine_bytes = 0;
  std::size_t machine_digest = 0;
  bool has_heap = false;
};

struct Settlement {
  std::vector<Statement> statements;  // by rank
  // The lowest rank's machine, where they differ; empty: this rank's is everybody's.
  std::string machine_text;
};

// All ranks throw the same FailureError, or none does, where their builds of huddle differ.
Settlement settle(const Bootstrap& bootstrap, const Context& context);

}  // namespace huddle::team
