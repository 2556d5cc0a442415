// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <vector>

#include "runtime/select/algorithm.h"

namespace huddle::select {

// Sizes are of one block.
std::vector<Algorithm> allgather_algorithms(const TeamResources& resources);
std::vector<Algorithm> alltoall_algorithms(const TeamResources& resources);
// Of gather and scatter.
std::vector<Algorithm> rooted_algorithms();
// Of operations whose blocks are known to pairs only: one plan for all sizes, and what it costs at
// the size that is asked about.
Algorithm uneven_algorithm();
Candidate uneven_candidate(const Prices& prices, const TeamResources& resources,
                           const Request& request);

// A rank's own block, its results written by this kernel.
double own_ns(const Prices& prices, const Request& request, memory::CopyKernel results);
double slots_allgather_ns(const Prices& prices, const Request& request,
                          const node::SlotExchange::Plan& plan);
double doubling_ns(const Prices& prices, const Request& request,
                   const node::DoublingExchange::Plan& plan);
double slots_alltoall_ns(const Prices& prices, const Request& request,
                         const node::SlotExchange::Plan& plan);
double pairs_alltoall_ns(const Prices& prices, int cells, const Request& request,
                         const node::PairExchange::Plan& plan);
// The same of any operation whose blocks are known to pairs only.
double pairs_uneven_ns(const Prices& prices, int cells, const Request& request,
                       const node::PairExchange::Plan& plan);
// Of a gather or scatter: what the root does, to one rank after the other.
double pairs_rooted_ns(const Prices& prices, int cells, const Request& request,
                       const node::PairExchange::Plan& plan);

}  // namespace huddle::select
