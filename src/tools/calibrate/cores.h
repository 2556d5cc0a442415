// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which processors, pairs and groups stand for a machine when not all can be measured.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/cpu_set.h"
#include "model/machine/topology.h"

namespace huddle::calibrate {

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

}  // namespace huddle::calibrate
