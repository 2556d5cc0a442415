// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All ranks' parts as one file, which `huddle map` reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/profile/part.h"

namespace huddle::profile {

struct Profile {
  int ranks = 0;
  std::vector<std::string> hosts;  // by rank; empty where that rank's part is missing
  std::vector<Flow> flows;         // in order; the same pair once for each phase and kind
  std::vector<int> missing;        // ranks of which nothing is known
  std::vector<int> unfinished;     // ranks that ended before MPI_Finalize
  std::uint64_t left_out = 0;      // calls of collectives that stand for too many pairs
  int jobs = 0;                    // how many programs were started; this is the one that sent most

  bool is_whole() const { return missing.empty() && unfinished.empty(); }
};

// pre: `parts` stand as they began. Spawned processes are no ranks of the job. No parts: no ranks.
Profile assembled(const std::vector<Part>& parts);

// huddle-comm, version 1. Its "entries" are what was sent point to point and one-sided, in all
// phases; collectives stand apart.
std::string document_text(const Profile& profile);

struct Total {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::size_t pairs = 0;  // that sent anything
};
Total total_of(const Profile& profile, bool collectives);

}  // namespace huddle::profile
