// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a team has chosen and why, for whoever measures it.
#pragma once

#include <string>

#include "select/explain.h"
#include "team/team.h"

namespace huddle::mpi {

// What the team's latest call ran, and the best of each other algorithm, cheapest first: lines as
// huddle_choices() gives them. pre: that call was such a request.
std::string choices(const team::Team& team, const select::Request& request);

}  // namespace huddle::mpi
