// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Holds a contest: real processes, all entries in turn, round after round.
#pragma once

#include <atomic>

#include "contest/contest.h"
#include "machine/machine.h"

namespace huddle::contest {

struct Terms {
  machine::Machine machine;  // what teams choose by
  int rounds = 10;
};

// Told what is going on, some times a second.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void advance(double share_of_contest) = 0;
};

// In each round every entry has its turn, and each round begins with another one. A turn is a
// stretch to warm up and then the entry's stretches, with new data before and a check behind each:
// from when the first rank begins until the last one returns.
//
// Ends after the turn in which `stop` is set; rounds that were finished by then count. Throws
// FailureError where an entry's results are wrong or a rank fails.
Result hold(const Contest& contest, const Terms& terms, Watcher& watcher,
            const std::atomic<bool>& stop);

}  // namespace huddle::contest
