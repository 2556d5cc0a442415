// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times the transfer of a cache line between two cores, and the cost of further readers or writers.
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
  own_lines,    // each side stores to a cache line of its own
  shared_line,  // both sides store to the same cache line, to different words
};

// Returns half the round-trip time between two hardware threads. A sample is the mean of a batch.
Samples time_line(MeasuringThreads& crew, int a, int b, LineUse use, const Extent& extent,
                  const Budget& budget);

// Returns the time from the store by pus[0] until the last of the others, which all spin on the
// flag, has seen it. Includes two readings of the clock, which cancel out in the difference between
// two numbers of readers.
Samples time_readers(MeasuringThreads& crew, std::span<const int> pus, const Extent& extent,
                     const Budget& budget);

// Returns the time until pus[0] has seen the answers of all others to its flag. All answers are in
// one cache line.
Samples time_packed_flags(MeasuringThreads& crew, std::span<const int> pus, const Extent& extent,
                          const Budget& budget);

// Number of flags of four bytes in a cache line.
inline constexpr std::size_t most_packed_flags = 16;

// Returns the latency matrix of hardware threads all of whose pairs were measured. Drops the
// hardware thread with the most missing pairs until the matrix is complete. Returns nothing if
// fewer than two remain.
std::optional<machine::LinePairs> pairs_of(const std::map<Pair, Summary>& lines);

// Returns the latency matrix of `pus` in ascending order. A pair that was not measured gets the
// latency of the innermost level that it shares. Returns nothing for fewer than two.
// Requires: machine.line contains those levels.
std::optional<machine::LinePairs> filled_pairs(const machine::Machine& machine,
                                               const std::vector<int>& pus,
                                               const std::map<Pair, Summary>& lines);

// Infers clusters from the scanned latencies. Returns at most `most` pairs, the same number from
// each cluster if it has that many.
std::vector<Pair> pairs_of_clusters(const machine::LinePairs& scanned, std::size_t most);

}  // namespace huddle::calibrate
