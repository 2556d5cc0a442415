// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From figures to verdicts.
#pragma once

#include <vector>

#include "tools/bench/engine/comparison.h"

namespace huddle::bench {

// The ratio of each round is of figures that were taken within a fraction of a second: a machine
// that is slow for a while is slow for both. The rival is the one with the best median, the same in
// all rounds: the best of each round would be a rival that nobody could have picked beforehand.
// pre: every entry has the same number of figures, one at least.
Verdict judge(const Judgement& judgement, const std::vector<EntryResult>& entries);

}  // namespace huddle::bench
