// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/system.h"
#include "model/machine/topology.h"

namespace huddle::calibrate {

// Which processors, pairs and groups stand for a machine when not all can be measured.

using Pair = std::pair<int, int>;

// One processor for each core that has an allowed one: its first allowed. Neighbours in the tree
// are neighbours in this list, whatever their numbers.
std::vector<int> measured_pus(const machine::Topology& topology, const machine::CpuSet& allowed);

// Every pair of them.
std::vector<Pair> all_pairs(const std::vector<int>& pus);

// A joining level with pairs that meet there.
struct LevelPairs {
  std::string level;
  std::vector<Pair> pairs;
};

// For each level that joins allowed processors, hardware threads of one core included, at most
// `most` pairs from all over the machine. Innermost first.
std::vector<LevelPairs> pairs_by_level(const machine::Topology& topology,
                                       const machine::CpuSet& allowed, std::size_t most);

// Those of the processors that lie in the group of this level that holds most of them; all of them
// for "machine".
std::vector<int> fullest_group(const machine::Topology& topology, const std::string& level,
                               const std::vector<int>& pus);

// `count` of them, evenly spaced: spread over the parts of their group. pre: count <= pus.size().
std::vector<int> spread_over(const std::vector<int>& pus, std::size_t count);

// The one that measures what a single core can tell: from the middle, since the first processor of
// a machine takes most of its interrupts. pre: not empty.
int reference_pu(const std::vector<int>& pus);

// A writer, and after it at most so many readers that all meet it at this very level: with nearer
// ones among them a reader more would also be one from farther away. pre: pus is not empty.
std::vector<int> writer_and_readers(const machine::Topology& topology, const std::string& level,
                                    const std::vector<int>& pus, std::size_t most);

// 2, 4, 8, ... and `all` itself; nothing below 2.
std::vector<std::size_t> doubling_to(std::size_t all);

// Which sizes are worth measuring: on both sides of every cache, and some between.

// Caches of the machine from the smallest to the largest, by what one group of the level has.
std::vector<std::size_t> cache_sizes(const machine::Topology& topology);

// The least through which a chase may go and still miss the largest cache mostly.
std::size_t beyond_caches(const machine::Topology& topology);

// How many of the copiers fill one last cache together, at most.
std::size_t cache_sharers(const machine::Topology& topology, const std::vector<int>& copiers);

// How much one of `sharers` copiers has to copy so that all of it comes from memory.
std::size_t memory_copy_bytes(const machine::Topology& topology, std::size_t sharers);

// Bytes that one copy moves (it touches twice as many), from 64 to `largest`, rising.
std::vector<std::size_t> copy_sizes(const machine::Topology& topology, std::size_t largest);

// Those of which a core's own caches hold nothing that it copied before the last one.
std::vector<std::size_t> sizes_past_own_caches(const machine::Topology& topology,
                                               const std::vector<std::size_t>& sizes);

// About every second size, the first and the last always among them, without wide gaps: for a quick
// look.
std::vector<std::size_t> thinned_sizes(const std::vector<std::size_t>& sizes);

// What may be used here without pushing anybody else out: free memory and the limits of the control
// groups around us.
std::uint64_t usable_memory_bytes(const System& system = System());

}  // namespace huddle::calibrate
