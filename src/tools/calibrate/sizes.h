// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which sizes are worth measuring: on both sides of every cache, and some between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/system.h"
#include "model/machine/topology.h"

namespace huddle::calibrate {

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
