// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Candidates for a request, each a plan of an algorithm with its predicted time, and lower bounds
// for the time of any algorithm. The algorithms are described in algorithm.h.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/barrier_protocols.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/direct_reduce.h"
#include "runtime/node/doubling_exchange.h"
#include "runtime/node/locality.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/node/reduce_exchange.h"
#include "runtime/node/reduce_slices.h"
#include "runtime/node/reduce_tree.h"
#include "runtime/node/rooted_exchange.h"
#include "runtime/node/slot_exchange.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::select {

// Returns a lower bound for the time of any algorithm. It is the larger of two times: that of a
// cache line from the best placed rank to the rank farthest from it, because some rank must receive
// from or send to all others; and that of reading from the nearest peer the bytes that some rank
// must receive.
double floor_ns(const Request& request, const node::RankLocality& locality,
                const machine::CostModel& model);

// Returns the time that the busiest NUMA node needs to read the inputs and write the outputs of its
// ranks, at the rate of the caches if these hold the data. Returns 0 if only the sender and the
// receiver know the size of a block.
double memory_ns(const Request& request, const node::RankLocality& locality,
                 const machine::CostModel& model);

// Plans: the parameters of each algorithm for one call.
struct TreeBarrierPlan {
  node::Shape shape;
  node::TreeBarrier::Parameters parameters;

  bool operator==(const TreeBarrierPlan&) const = default;
};
struct DisseminationPlan {
  node::DisseminationBarrier::Parameters parameters;

  bool operator==(const DisseminationPlan&) const = default;
};
struct InlineBcastPlan {
  int shape = 0;
};
// The following plans access peers' memory; `path` selects how.
struct DirectExchangePlan {
  node::DirectExchange::Plan exchange = {};
  single_copy::PathNumber path = 0;
};
struct DirectReducePlan {
  node::DirectReduce::Plan reduction = {};
  single_copy::PathNumber path = 0;
};
// A pairwise exchange in which a sender announces blocks for which a direct read pays off.
struct AnnouncedPlan {
  node::PairExchange::Plan pairs;
  single_copy::PathNumber path = 0;
};
// A gather in which the senders write to the root's memory; the root copies only its own block.
struct PushedPlan {
  node::DirectExchange::Plan writers;
  single_copy::PathNumber path = 0;
};
template <class PlanOfIt>
concept DirectPlan = requires(const PlanOfIt& plan) {
  plan.path;
};

using Plan =
    std::variant<TreeBarrierPlan, DisseminationPlan, InlineBcastPlan, node::PipelinedBcast::Plan,
                 node::SegmentedBcast::Plan, node::ExchangeReduce::Plan, node::TreeReduce::Plan,
                 node::SlicedReduce::Plan, node::SlotExchange::Plan, node::PairExchange::Plan,
                 DirectExchangePlan, DirectReducePlan, AnnouncedPlan, PushedPlan,
                 node::DoublingExchange::Plan, node::RootedExchange::Plan>;
// Returns the name under which the algorithm of the plan is registered (registration.h).
std::string_view algorithm_name(const Plan& plan);
// Returns whether ranks read from or write to each other's memory directly.
bool is_direct(const Plan& plan);
// Returns the path that the plan uses; 0 if it does not access peers' memory.
single_copy::PathNumber path_of(const Plan& plan);
// Returns the size of the pieces in which data pass through shared memory; 0 if the plan does not
// select it. Comparable only between plans of the same algorithm.
std::size_t piece_size(const Plan& plan);
// Returns the method by which pieces are copied, or nothing if the plan does not select one.
std::optional<memory::CopyMethod> copy_method(const Plan& plan);

// The features by which a plan is found again in a later run. Plans that differ in other
// parameters, such as the shape of a tree, have equal features.
struct PlanFeatures {
  std::string_view algorithm = {};  // a registered name; empty if unknown
  std::size_t piece_bytes = 0;
  std::optional<memory::CopyMethod> copy_method = {};

  bool operator==(const PlanFeatures&) const = default;
};
PlanFeatures features_of(const Plan& plan);
// Returns the registered name that equals `name`, or nothing if there is none.
std::optional<std::string_view> registered_algorithm(std::string_view name);

struct Candidate {
  Plan plan;
  std::string parameters;  // in words: "4-ary, fragments of 16K"
  double ns = 0;           // predicted time from the first rank's call to the last rank's return
};

// Returns all plans that can handle the request, in a fixed order. Omits plans without a predicted
// time, for which the machine file lacks figures, unless no plan has one. The result is empty only
// if an element is larger than any slot.
// Requires: at least two ranks.
std::vector<Candidate> candidates(const Request& request, const node::RankLocality& locality,
                                  const machine::CostModel& model, const TeamResources& resources);
// Returns the plans of the algorithms with these names. They copy by the methods in `avoided` only
// if no other method is possible. Requires: at least two ranks.
std::vector<Candidate> candidates_of(const std::set<std::string_view>& names,
                                     const Request& request, const node::RankLocality& locality,
                                     const machine::CostModel& model,
                                     const TeamResources& resources,
                                     const memory::CopyMethodSet& avoided);
// Returns the cheapest candidate, the first one of several that are equal.
const Candidate& cheapest(const std::vector<Candidate>& candidates);
// Returns the cheapest candidate of the algorithm `forced`; if it is empty or has no candidate, the
// cheapest of all.
// Requires: `candidates` is not empty.
const Candidate& chosen(const std::vector<Candidate>& candidates, std::string_view forced);

}  // namespace huddle::select
