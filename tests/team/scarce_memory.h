// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Private memory that runs out when a test wants it to. Whoever links this has operators new and
// delete of its own, in the whole program, so that nothing is missed.
#pragma once

namespace huddle::team {

inline constexpr long any_number = -1;

// So many allocations of this thread go well from now on, and the next one does not; those after it
// do. Returns what was left until now: any_number where one has failed.
long allow_allocations(long number);

}  // namespace huddle::team
