// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A process that stays when the one that has forked it becomes another program.
#pragma once

#include <string>
#include <vector>

namespace huddle::threads {

// For a child just forked: a session of its own, nothing open but these descriptors, and a name of
// its own in lists of processes.
void detach(const std::string& name, std::vector<int> kept);

}  // namespace huddle::threads
