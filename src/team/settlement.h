// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What has to be equal on all ranks before a team can choose anything: agreed on when it is made.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/machine.h"
#include "team/bootstrap.h"
#include "team/context.h"
#include "team/seating.h"

namespace huddle::team {

struct Settlement {
  machine::Machine machine;  // the lowest rank's, where they differ
  std::size_t queue_bytes = 0;
  std::vector<Whereabouts> whereabouts;  // by rank
};

Settlement settle(const Bootstrap& bootstrap, const Context& context);

}  // namespace huddle::team
