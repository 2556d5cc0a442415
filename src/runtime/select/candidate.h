// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A way to do an operation: which algorithm, with which plan, and what it is predicted to cost.
// Algorithms describe themselves: see algorithm.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/machine/cost.h"
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
#include "runtime/node/slot_exchange.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::select {

// What no algorithm can be faster than, as far as a machine's figures say.

// The longer of two: a line's way from the best placed rank to the one farthest from it, since
// somebody has to hear from everybody or to tell all; and reading the bytes that one rank has to
// take in at least, from the nearest peer.
double floor_ns(const Request& request, const node::RankLocality& locality,
                const machine::CostModel& model);

// What the memory of the busiest node takes for what its ranks hand in and want, all together, at
// the pace of the caches where those hold it. 0 where only pairs know how much that is.
double memory_ns(const Request& request, const node::RankLocality& locality,
                 const machine::CostModel& model);

// What each algorithm needs to be told for one call.
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
// Those that follow reach into peers' memory: by which path.
struct DirectExchangePlan {
  node::DirectExchange::Plan exchange = {};
  single_copy::PathNumber path = 0;
};
struct DirectReducePlan {
  node::DirectReduce::Plan reduction = {};
  single_copy::PathNumber path = 0;
};
// Pairs of which the sender announces what is worth a read.
struct AnnouncedPlan {
  node::PairExchange::Plan pairs;
  single_copy::PathNumber path = 0;
};
// A gather in which the root copies nothing but its own: the others write to its memory.
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
                 node::DoublingExchange::Plan>;
// By the plan's index: "tree", "dissemination", "inline", ...
std::string_view algorithm_name(const Plan& plan);
// Whether ranks read each other's memory, or write to it.
bool is_direct(const Plan& plan);
// By which path; the first for a plan that reaches for nobody's.
single_copy::PathNumber path_of(const Plan& plan);

struct Candidate {
  Plan plan;
  std::string parameters;  // in words: "4-ary, fragments of 16K"
  double ns = 0;           // predicted, from the first rank's call until the last one returns
};

// Everything that can serve the request, in a fixed order, without what the machine file has too
// few figures to price, unless nothing has a price. Empty only for elements larger than any slot.
// pre: two ranks or more.
std::vector<Candidate> candidates(const Request& request, const node::RankLocality& locality,
                                  const machine::CostModel& model, const TeamResources& resources);
// The cheapest; the first of several.
const Candidate& cheapest(const std::vector<Candidate>& candidates);
// The cheapest by the forced algorithm where that can serve, and else the cheapest of all; `forced`
// is empty where none is. pre: there is a candidate.
const Candidate& chosen(const std::vector<Candidate>& candidates, std::string_view forced);

}  // namespace huddle::select
