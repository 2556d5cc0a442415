// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A hold on a process that stays its own: its number is given to another one some time after it has
// died.
#pragma once

namespace huddle {

// Returns whether the process behind a pidfd is dead. False for -1, a closed descriptor, and one of
// another kind.
bool is_dead(int pidfd);

// Whether its number may be another one's by now: not while it is dead and nobody has waited for
// it. The cheaper question of the two. -1 keeps its number.
bool has_lost_number(int pidfd);

}  // namespace huddle
