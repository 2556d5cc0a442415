// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy algorithms: ranks read what they want straight out of each other's memory, or write
// it there.
#pragma once

#include <vector>

#include "select/algorithm.h"

namespace huddle::select {

// For any operation that there is one for. Without plans where the machine has no figures for the
// path, or where the resources says that it is refused.
std::vector<Algorithm> direct_algorithms(Operation operation);
// Of operations whose blocks only pairs know, in part: large ones are read where they lie.
Algorithm announced_algorithm();

// `mapped` as in a request.
// Blocks of so many bytes from each rank for each, or from each for all.
double direct_blocks_ns(const Prices& prices, const Request& request);
// Of the root alone, from all others.
double direct_gather_ns(const Prices& prices, const Request& request);
// For each rank from the root, or from each to the root, copied by all but the root.
double direct_by_others_ns(const Prices& prices, const Request& request,
                           const node::DirectExchange::Plan& plan);
// Of blocks known to pairs only, all of them announced.
double announced_ns(const Prices& prices, const Request& request);
double direct_reduce_ns(const Prices& prices, const Request& request,
                        const node::DirectReduce::Plan& plan);

}  // namespace huddle::select
