// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A bootstrap for processes that were started apart: they meet under the name of a path. Nothing is
// made at that path, and nothing stays behind, however they end.
#pragma once

#include <chrono>
#include <string>

#include "runtime/team/bootstrap.h"

namespace huddle::team {

// Rank 0 may come last. All ranks belong to one user and one network namespace. Throws FailureError
// on all who have come where a rank is missing after `limit`, comes twice, is out of range, or does
// not agree on the number of ranks; whoever has met rank 0 waits until it knows, and not so
// long where one who has come dies. One meeting at a time under a path.
Bootstrap path_bootstrap(const std::string& path, int rank, int ranks,
                         std::chrono::milliseconds limit);

}  // namespace huddle::team
