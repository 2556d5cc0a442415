// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One cache line on its way between two cores, and what more readers or writers add to that.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/machine/machine.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"
#include "tools/calibrate/statistics.h"

namespace huddle::calibrate {

enum class LineUse {
  own_lines,    // each side stores into a line of its own
  shared_line,  // both sides store into the same line, a word each
};

// Half the round trip between two processors. A sample is the mean of a batch of round trips.
Samples time_line(Crew& crew, int a, int b, LineUse use, const Extent& extent,
                  const Budget& budget);

// From the store of pus[0] until the last of the others, all waiting for it, has seen it. The two
// readings of the clock are in it; they cancel in the difference between two numbers of readers.
Samples time_readers(Crew& crew, std::span<const int> pus, const Extent& extent,
                     const Budget& budget);

// pus[0] calls, each of the others answers with a flag of its own, all flags in one line; until
// pus[0] has seen them all.
Samples time_packed_flags(Crew& crew, std::span<const int> pus, const Extent& extent,
                          const Budget& budget);

// So many flags of four bytes fit into a line.
inline constexpr std::size_t most_packed_flags = 16;

// From measured pairs to a matrix of all pairs, and from a matrix to the pairs worth a closer look.

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
