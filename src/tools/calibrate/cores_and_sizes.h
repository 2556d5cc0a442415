// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
// Selects the hardware threads, pairs, groups and sizes that represent a machine in a calibration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/system.h"
#include "model/machine/topology.h"

namespace huddle::calibrate {

using Pair = std::pair<int, int>;

// Returns the first allowed hardware thread of each core that has one, in topology order.
std::vector<int> measured_pus(const machine::Topology& topology, const machine::CpuSet& allowed);

std::vector<Pair> all_pairs(const std::vector<int>& pus);

// A level, and pairs of hardware threads for which it is the innermost shared level.
struct LevelPairs {
  std::string level;
  std::vector<Pair> pairs;
};

// Returns at most `most` pairs for each level that allowed hardware threads share, including pairs
// within a core. The pairs are from all parts of the machine. The innermost level is first.
std::vector<LevelPairs> pairs_by_level(const machine::Topology& topology,
                                       const machine::CpuSet& allowed, std::size_t most);

// Returns those of `pus` that are in one group of this level: the group with most of them. Returns
// all for "machine".
std::vector<int> fullest_group(const machine::Topology& topology, const std::string& level,
                               const std::vector<int>& pus);

// Returns `count` evenly spaced elements of `pus`.
// Requires: count <= pus.size().
std::vector<int> spread_over(const std::vector<int>& pus, std::size_t count);

// Returns the hardware thread for measurements that need a single core. It is from the middle of
// `pus`, because the first hardware thread of a machine handles most of its interrupts.
// Requires: `pus` is not empty.
int reference_pu(const std::vector<int>& pus);

// Returns a writer and at most `most` readers. For each reader, `level` is the innermost level that
// it shares with the writer. If some readers were nearer, more readers would also mean a longer
// distance.
// Requires: `pus` is not empty.
std::vector<int> writer_and_readers(const machine::Topology& topology, const std::string& level,
                                    const std::vector<int>& pus, std::size_t most);

// Returns 2, 4, 8, ... and `all`; nothing if `all` < 2.
std::vector<std::size_t> doubling_to(std::size_t all);

// Returns the size of one cache of each level, in ascending order.
std::vector<std::size_t> cache_sizes(const machine::Topology& topology);

// Returns the smallest working set of a pointer chase that mostly misses the largest cache.
std::size_t beyond_caches(const machine::Topology& topology);

// Returns the number of copiers that share a last-level cache, for the cache with most of them.
std::size_t cache_sharers(const machine::Topology& topology, const std::vector<int>& copiers);

// Returns the size that each of `sharers` copiers with a common last-level cache has to copy so
// that all data comes from memory.
std::size_t memory_copy_bytes(const machine::Topology& topology, std::size_t sharers);

// Returns ascending copy sizes from 64 bytes to `largest`. A copy touches twice its size; for each
// cache there are sizes that fit into it and sizes that do not.
std::vector<std::size_t> copy_sizes(const machine::Topology& topology, std::size_t largest);

// Returns the sizes that are at least as large as a core's own caches, so that a repeated copy does
// not find its data there.
std::vector<std::size_t> sizes_past_own_caches(const machine::Topology& topology,
                                               const std::vector<std::size_t>& sizes);

// Returns about every second size without wide gaps, with the first and the last, for a quick run.
std::vector<std::size_t> thinned_sizes(const std::vector<std::size_t>& sizes);

// Returns the memory that may be used without displacing other programs: free memory, within the
// limits of the control groups.
std::uint64_t usable_memory_bytes(const System& system = System());

}  // namespace huddle::calibrate
