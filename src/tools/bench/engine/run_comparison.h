// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Holds a comparison: real processes, all entries in turn, round after round.
#pragma once

#include <atomic>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/comparison.h"

namespace huddle::bench {

// From figures to verdicts.

// The ratio of each round is of figures that were taken within a fraction of a second: a machine
// that is slow for a while is slow for both. The rival is the one with the best median, the same in
// all rounds: the best of each round would be a rival that nobody could have picked beforehand.
// pre: every entry has the same number of figures, one at least.
Verdict judge(const Judgement& judgement, const std::vector<EntryResult>& entries);

struct RunOptions {
  machine::Machine machine;  // what teams choose by
  int rounds = 10;
};

// Told what is going on, some times a second.
class ComparisonWatcher {
 public:
  virtual ~ComparisonWatcher() = default;
  virtual void advance(double share_of_comparison) = 0;
};

// In each round every entry has its turn, and each round begins with another one. A turn is a
// stretch to warm up and then the entry's stretches, with new data before and a check behind each:
// from when the last rank begins until the last one returns.
//
// Ends after the turn in which `stop` is set; rounds that were finished by then count. Throws
// FailureError where an entry's results are wrong or a rank fails.
Result run_comparison(const Comparison& comparison, const RunOptions& options,
                      ComparisonWatcher& watcher, const std::atomic<bool>& stop);

}  // namespace huddle::bench
