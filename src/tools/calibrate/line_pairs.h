// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From measured pairs to a matrix of all pairs, and from a matrix to the pairs worth a closer look.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "model/machine/machine.h"
#include "tools/calibrate/cores.h"
#include "tools/calibrate/statistics.h"

namespace huddle::calibrate {

// The matrix of the processors that were measured with each other: those that lack most pairs are
// left out until none is missing. Nothing where fewer than two remain.
std::optional<machine::LinePairs> pairs_of(const std::map<Pair, Summary>& lines);

// The matrix of these processors (in any order); a pair that was not measured gets the latency of
// the level at which it meets. Nothing for fewer than two. pre: machine.line has those levels.
std::optional<machine::LinePairs> filled_pairs(const machine::Machine& machine,
                                               const std::vector<int>& pus,
                                               const std::map<Pair, Summary>& lines);

// At most so many pairs, evenly from all clusters that the latencies show.
std::vector<Pair> pairs_of_clusters(const machine::LinePairs& scanned, std::size_t most);

}  // namespace huddle::calibrate
