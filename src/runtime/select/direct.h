// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy algorithms: ranks read what they want straight out of each other's memory, or write
// it there.
#pragma once

#include <vector>

#include "runtime/select/algorithm.h"

namespace huddle::select {

// For any operation that there is one for: by each path that the machine has figures for, unless
// the resources say that it is refused.
std::vector<Algorithm> direct_algorithms(Operation operation);
// Of operations whose blocks only pairs know, in part: large ones are read where they lie.
Algorithm announced_algorithm();

// `by` is how the blocks are copied.
// Blocks of so many bytes from each rank for each, or from each for all.
double direct_blocks_ns(const Prices& prices, const Request& request, const PeerCopy& by);
// Of the root alone, from all others.
double direct_gather_ns(const Prices& prices, const Request& request, const PeerCopy& by);
// For each rank from the root, or from each to the root, copied by all but the root.
double direct_by_others_ns(const Prices& prices, const Request& request, const PeerCopy& by,
                           const node::DirectExchange::Plan& plan);
// Of blocks known to pairs only, all of them announced.
double announced_ns(const Prices& prices, const Request& request, const PeerCopy& by);
double direct_reduce_ns(const Prices& prices, const Request& request, const PeerCopy& by,
                        const node::DirectReduce::Plan& plan);

}  // namespace huddle::select
