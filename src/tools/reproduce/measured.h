// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The rows that are measured, on the machine that we are on: a broadcast between two ranks through
// few buffers.
#pragma once

#include <vector>

#include "model/machine/topology.h"
#include "tools/bench/engine/comparison.h"
#include "tools/reproduce/reproduce.h"

namespace huddle::reproduce {

// Buffers of 8 KB in one set, as many as the paper had: each number of them an entry. pre: two
// processors or more.
bench::Comparison few_buffers(const machine::Topology& topology, const std::vector<int>& pus);

// Each number of buffers by the time of one, as ratios of rounds: their median, and where nine
// tenths of them lie. pre: a round was finished.
Measurements measurements_of(const bench::Result& result);

}  // namespace huddle::reproduce
