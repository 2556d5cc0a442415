// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Repeatedly kills ranks at random times.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/team/bootstrap.h"

namespace huddle::team {

// An endless activity, equal on all ranks for equal seeds. It ends with a FailureError.
using Life = std::function<void(const Bootstrap&, unsigned int seed)>;

// Kills some ranks of each of many teams, each within `latest` of the start. Checks that the others
// notice it in time and that no resources remain. The environment variable KILL_TRIES sets the
// number of teams; the default suits a run of all tests.
void expect_nothing_left_by_deaths(const Life& life, std::chrono::microseconds latest);

}  // namespace huddle::team
