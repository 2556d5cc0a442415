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

// A level and pairs whose innermost shared object has this level.
struct LevelPairs {
  std::string level;
  std::vector<Pair> pairs;
};

// Returns at most `most` pairs for each level that allowed hardware threads share, from all parts
// of the machine, and including hardware threads of one core. Innermost level first.
std::vector<LevelPairs> pairs_by_level(const machine::Topology& topology,
                                       const machine::CpuSet& allowed, std::size_t most);

// Returns the elements of `pus` in the group of this level that contains most; all for "machine".
std::vector<int> fullest_group(const machine::Topology& topology, const std::string& level,
                               const std::vector<int>& pus);

// Returns `count` evenly spaced elements of `pus`.
// Requires: count <= pus.size().
std::vector<int> spread_over(const std::vector<int>& pus, std::size_t count);

// Returns the hardware thread for measurements that need a single core. It is from the middle of
// `pus`, because the first hardware thread of a machine handles most of its interrupts.
// Requires: `pus` is not empty.
int reference_pu(const std::vector<int>& pus);

// Returns a writer, followed by at most `most` readers that all share exactly this level with it.
// With nearer readers among them, more readers would also mean a longer distance.
// Requires: `pus` is not empty.
std::vector<int> writer_and_readers(const machine::Topology& topology, const std::string& level,
                                    const std::vector<int>& pus, std::size_t most);

// Returns 2, 4, 8, ... and `all`; nothing if `all` < 2.
std::vector<std::size_t> doubling_to(std::size_t all);

// Returns the cache sizes of the machine in ascending order: the size of one cache of each level.
std::vector<std::size_t> cache_sizes(const machine::Topology& topology);

// Returns the smallest working set of a pointer chase that mostly misses the largest cache.
std::size_t beyond_caches(const machine::Topology& topology);

// Returns the maximum number of these copiers that share one last-level cache.
std::size_t cache_sharers(const machine::Topology& topology, const std::vector<int>& copiers);

// Returns the size that one of `sharers` copiers has to copy so that all data comes from memory.
std::size_t memory_copy_bytes(const machine::Topology& topology, std::size_t sharers);

// Returns ascending sizes of copies, from 64 to `largest`, on both sides of each cache size. A copy
// touches twice its size.
std::vector<std::size_t> copy_sizes(const machine::Topology& topology, std::size_t largest);

// Returns the sizes at which a core's private caches contain nothing of the copy before the
// previous one.
std::vector<std::size_t> sizes_past_own_caches(const machine::Topology& topology,
                                               const std::vector<std::size_t>& sizes);

// Returns about every second size without wide gaps, with the first and the last, for a quick run.
std::vector<std::size_t> thinned_sizes(const std::vector<std::size_t>& sizes);

// Returns the memory that may be used without displacing other programs: free memory, within the
// limits of the control groups.
std::uint64_t usable_memory_bytes(const System& system = System());

}  // namespace huddle::calibrate
