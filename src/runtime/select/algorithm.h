// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Descriptions of the algorithms: for each one its name, its requirements, and its plans with their
// predicted times. They are defined in barrier.cc, bcast.cc, reduce.cc, exchange.cc and direct.cc.
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

// Returns the sizes to try for the pieces in which data pass through slots or cells: the size that
// fits into a flag's cache line, and then powers of two up to the first that holds all `bytes`, but
// none above `capacity`.
std::vector<std::size_t> piece_sizes(std::size_t bytes, std::size_t capacity);

struct Algorithm {
  using Add = void(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                   const Request& request);

  std::string_view name;  // equals algorithm_name() of each of its plans
  std::string needs;      // requirements in words; empty if there are none
  Add* add;               // appends its plans for a request, if it can handle the request
};

template <class PlanOfIt>
Algorithm described(std::string needs, Algorithm::Add* add) {
  return {algorithm_name(PlanOfIt{}), std::move(needs), add};
}

// Returns all algorithms of an operation in the order of their candidates, including those that
// cannot handle every request.
std::vector<Algorithm> algorithms(Operation operation, const TeamResources& resources);

std::vector<Algorithm> barrier_algorithms();

double tree_barrier_ns(const Costs& costs, const node::Tree& tree,
                       const node::TreeBarrier::Parameters& parameters);
double dissemination_ns(const Costs& costs,
                        const node::DisseminationBarrier::Parameters& parameters);

std::vector<Algorithm> bcast_algorithms(const TeamResources& resources);

double inline_bcast_ns(const Costs& costs, const node::Tree& tree, int slots, std::size_t bytes);
// Follows t(m, s) of Kurnosov and Tokmasheva (docs/papers.md), but predicts the copies in and out
// separately.
double pipelined_bcast_ns(const Costs& costs, const node::Tree& tree, std::size_t queue_bytes,
                          std::size_t bytes, std::size_t fragment_bytes, memory::CopyMethod method);
double segmented_bcast_ns(const Costs& costs, const node::SegmentedBcast& layout,
                          int readers_at_once, std::size_t bytes,
                          const node::SegmentedBcast::Plan& plan);

// Algorithms for reduce, allreduce, reduce-scatter, scan and exscan. `bytes` is the size of all
// blocks of a rank together.
std::vector<Algorithm> reduce_algorithms(Operation operation, const TeamResources& resources);

double exchange_ns(const Costs& costs, const Request& request,
                   const node::ExchangeReduce::Plan& plan);
// to_all: predicts an allreduce instead of a reduce.
double tree_reduce_ns(const Costs& costs, const node::ReductionOrder& reduction_order, int slots,
                      std::size_t bytes, const node::TreeReduce::Plan& plan, bool to_all);
double sliced_reduce_ns(const Costs& costs, int sets, std::size_t bytes,
                        const node::SlicedReduce::Plan& plan, node::ReductionTarget::Kind aim);

// Algorithms that move blocks. Sizes are those of one block.
std::vector<Algorithm> allgather_algorithms(const TeamResources& resources);
std::vector<Algorithm> alltoall_algorithms(const TeamResources& resources);
std::vector<Algorithm> gather_algorithms();
std::vector<Algorithm> scatter_algorithms(const TeamResources& resources);
// For operations in which only the sender and the receiver know the size of a block. One plan
// handles all sizes; its time is predicted for the size of the request.
Algorithm uneven_algorithm();
Candidate uneven_candidate(const Costs& costs, const TeamResources& resources,
                           const Request& request);

// Predicts the time to copy a rank's own block to its output with the copy kernel `results`.
double own_ns(const Costs& costs, const Request& request, memory::CopyKernel results);
double slots_allgather_ns(const Costs& costs, const Request& request,
                          const node::SlotExchange::Plan& plan);
double doubling_ns(const Costs& costs, const Request& request,
                   const node::DoublingExchange::Plan& plan);
double slots_alltoall_ns(const Costs& costs, const Request& request,
                         const node::SlotExchange::Plan& plan);
double slots_gather_ns(const Costs& costs, const Request& request,
                       const node::RootedExchange::Plan& plan);
double slots_scatter_ns(const Costs& costs, const Request& request,
                        const node::RootedExchange::Plan& plan);
double pairs_alltoall_ns(const Costs& costs, int cells, const Request& request,
                         const node::PairExchange::Plan& plan);
// The same for any operation in which only the sender and the receiver know the size of a block.
double pairs_uneven_ns(const Costs& costs, int cells, const Request& request,
                       const node::PairExchange::Plan& plan);
// Predicts a gather or scatter in which the root serves one rank after the other.
double pairs_rooted_ns(const Costs& costs, int cells, const Request& request,
                       const node::PairExchange::Plan& plan);

// Returns the single-copy algorithms of an operation, in which ranks read from or write to each
// other's memory directly. Each has plans for every path for which the machine file has figures,
// except paths that the resources list as refused.
std::vector<Algorithm> direct_algorithms(Operation operation);
// For operations that move a block between each pair of ranks, or to or from a root: the sender
// announces the address of a large block, and the receiver reads it directly from the sender's
// memory.
Algorithm announced_algorithm();

// In the following functions `by` selects how blocks are copied.
// Predicts an operation in which every rank reads one block of request.bytes from every other rank.
double direct_blocks_ns(const Costs& costs, const Request& request, const PeerCopy& by);
// Predicts a gather in which the root reads all blocks.
double direct_gather_ns(const Costs& costs, const Request& request, const PeerCopy& by);
// Predicts a bcast or scatter that the receivers read from the root, or a gather that the senders
// write to the root.
double direct_by_others_ns(const Costs& costs, const Request& request, const PeerCopy& by,
                           const node::DirectExchange::Plan& plan);
// Predicts an operation of announced_algorithm() in which all blocks are announced.
double announced_ns(const Costs& costs, const Request& request, const PeerCopy& by);
double direct_reduce_ns(const Costs& costs, const Request& request, const PeerCopy& by,
                        const node::DirectReduce::Plan& plan);

}  // namespace huddle::select
