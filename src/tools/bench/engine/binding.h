// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the ranks of a comparison may run.
#pragma once

#include <string>
#include <vector>

namespace huddle::bench {

struct Binding {
  int ranks = 2;
  std::vector<int> pus;

  bool crowded() const { return ranks > static_cast<int>(pus.size()); }
  // Each rank has a processor to itself; where there are not enough, all run on all.
  std::vector<int> pus_of(int rank) const;
  // The processor that a team counts each rank for.
  std::vector<int> counted_for() const;
};

// "2 ranks on cpus 0 and 1", "8 ranks on 2 cpus".
std::string text(const Binding& binding);

// Keeps the calling process to these. Throws FailureError naming what is not allowed.
void run_on(const std::vector<int>& pus);

}  // namespace huddle::bench
