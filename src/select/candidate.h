// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A way to do an operation: which algorithm, with which plan, and what it is predicted to cost.
// Algorithms describe themselves in barrier.cc, bcast.cc and reduce.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "node/allreduce_exchange.h"
#include "node/barrier_dissemination.h"
#include "node/barrier_tree.h"
#include "node/bcast_pipelined.h"
#include "node/bcast_segments.h"
#include "node/reduce_slices.h"
#include "node/reduce_tree.h"
#include "node/seats.h"
#include "select/operation.h"
#include "select/provision.h"

namespace huddle::select {

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

using Plan =
    std::variant<TreeBarrierPlan, DisseminationPlan, InlineBcastPlan, node::PipelinedBcast::Plan,
                 node::SegmentedBcast::Plan, node::ExchangeAllreduce::Plan, node::TreeReduce::Plan,
                 node::SlicedReduce::Plan>;
// By the plan's index: "tree", "dissemination", "inline", ...
std::string_view algorithm_name(const Plan& plan);

struct Candidate {
  Plan plan;
  std::string parameters;  // in words: "4-ary, fragments of 16K"
  double ns = 0;           // predicted, from the first rank's call until the last one returns
};

// Everything that can serve the request, in a fixed order. Empty only for elements larger than any
// slot. pre: two ranks or more.
std::vector<Candidate> candidates(const Request& request, const node::Seats& seats,
                                  const machine::CostModel& model, const Provision& provision);
// The cheapest; the first of several.
const Candidate& cheapest(const std::vector<Candidate>& candidates);

}  // namespace huddle::select
