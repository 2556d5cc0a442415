// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs a comparison: forked rank processes run all entries in turn, in several rounds.
#pragma once

#include <atomic>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/comparison.h"

namespace huddle::bench {

// Returns the verdict on a requirement, from one ratio per round. Both times of a round were
// measured within a fraction of a second, so a machine that is slow for a while is slow for both.
// The rival is the entry with the best median over all rounds. Taking the fastest one of each round
// instead would favour the rivals, because that choice cannot be made in advance.
// Requires: every entry has the same number of values, at least one.
Verdict judge(const Requirement& judgement, const std::vector<EntryResult>& entries);

struct RunOptions {
  machine::Machine machine;  // the machine model from which the teams choose
  int rounds = 10;
};

// Receives the progress several times per second.
class ComparisonWatcher {
 public:
  virtual ~ComparisonWatcher() = default;
  virtual void advance(double share_of_comparison) = 0;
};

// Runs all rounds. Every entry has one turn in each round, and each round starts with a different
// entry. A turn consists of a warm-up stretch and the entry's stretches, with new data before and a
// check after each. A stretch lasts from the start of the last rank until the return of the last
// rank.
//
// Ends after the turn in which `stop` is set; only complete rounds count. Throws FailureError if
// the results of an entry are wrong or a rank fails.
Result run_comparison(const Comparison& comparison, const RunOptions& options,
                      ComparisonWatcher& watcher, const std::atomic<bool>& stop);

}  // namespace huddle::bench
