// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What an algorithm says of itself: its name, what it needs, and its plans at their prices. Each is
// described where its prices are, in barrier.cc, bcast.cc, reduce.cc, exchange.cc and direct.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/node/reduction_order.h"
#include "runtime/select/candidate.h"
#include "runtime/select/costs.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {

// How large the pieces may be in which data go through slots and cells.

// From what fits into a flag's line, more and more, until all fits or the room is full.
std::vector<std::size_t> piece_sizes(std::size_t bytes, std::size_t capacity);

struct Algorithm {
  using Add = void(std::vector<Candidate>& list, const Prices& prices,
                   const TeamResources& resources, const Request& request);

  std::string_view name;  // as algorithm_name() has it of each of its plans
  std::string needs;      // in words; empty: nothing
  Add* add;               // its plans for a request; none for one that it cannot serve
};

template <class PlanOfIt>
Algorithm described(std::string needs, Algorithm::Add* add) {
  return {algorithm_name(PlanOfIt{}), std::move(needs), add};
}

// All that there are for an operation, in the order of their candidates, whether or not they can
// serve a request here.
std::vector<Algorithm> algorithms(Operation operation, const TeamResources& resources);

std::vector<Algorithm> barrier_algorithms();

double tree_barrier_ns(const Prices& prices, const node::Tree& tree,
                       const node::TreeBarrier::Parameters& parameters);
double dissemination_ns(const Prices& prices,
                        const node::DisseminationBarrier::Parameters& parameters);

std::vector<Algorithm> bcast_algorithms(const TeamResources& resources);

double inline_bcast_ns(const Prices& prices, const node::Tree& tree, int slots, std::size_t bytes);
// After Kurnosov and Tokmasheva's t(m, s), with the copies in and out each at their own price.
double pipelined_bcast_ns(const Prices& prices, const node::Tree& tree, std::size_t queue_bytes,
                          std::size_t bytes, std::size_t fragment_bytes, memory::CopyMethod method);
double segmented_bcast_ns(const Prices& prices, const node::SegmentedBcast& layout,
                          int readers_at_once, std::size_t bytes,
                          const node::SegmentedBcast::Plan& plan);

// Of reduce, allreduce, the reductions to blocks, scan and exscan. A rank's data are all blocks
// together.
std::vector<Algorithm> reduce_algorithms(Operation operation, const TeamResources& resources);

double exchange_ns(const Prices& prices, const Request& request,
                   const node::ExchangeReduce::Plan& plan);
// to_all: of an allreduce; otherwise of a reduce.
double tree_reduce_ns(const Prices& prices, const node::ReductionOrder& association, int slots,
                      std::size_t bytes, const node::TreeReduce::Plan& plan, bool to_all);
double sliced_reduce_ns(const Prices& prices, int sets, std::size_t bytes,
                        const node::SlicedReduce::Plan& plan, node::ReductionTarget::Kind aim);

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

// Single-copy algorithms: ranks read what they want straight out of each other's memory, or write
// it there.

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
