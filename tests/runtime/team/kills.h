// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks that are killed at any moment of what they do, again and again.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/team/bootstrap.h"

namespace huddle::team {

// What ranks do without end, the same on all of them by the seed, until it throws a FailureError.
using Life = std::function<void(const Bootstrap&, unsigned int seed)>;

// Some ranks of each of many teams are killed, at a moment before `latest`: the others hear of it
// in time, and have nothing left of it. As many teams as KILL_TRIES says; without it, as there is
// time for in a run of all tests.
void expect_nothing_left_by_deaths(const Life& life, std::chrono::microseconds latest);

}  // namespace huddle::team
