// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/candidate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "runtime/select/algorithm.h"
#include "runtime/select/barrier.h"
#include "runtime/select/bcast.h"
#include "runtime/select/direct.h"
#include "runtime/select/exchange.h"
#include "runtime/select/floor.h"
#include "runtime/select/reduce.h"

namespace huddle::select {

std::string_view algorithm_name(const Plan& plan) {
  static constexpr std::array<std::string_view, std::variant_size_v<Plan>> names = {
      "tree",  "dissemination", "inline", "pipelined", "segmented", "exchange", "blocks",  "slices",
      "slots", "pairwise",      "direct", "direct",    "announced", "pushed",   "doubling"};
  return names[plan.index()];
}

bool is_direct(const Plan& plan) {
  return std::visit([]<class PlanOfIt>(const PlanOfIt&) { return DirectPlan<PlanOfIt>; }, plan);
}

single_copy::PathNumber path_of(const Plan& plan) {
  return std::visit(
      []<class PlanOfIt>(const PlanOfIt& one) -> single_copy::PathNumber {
        if constexpr (DirectPlan<PlanOfIt>) {
          return one.path;
        } else {
          return 0;
        }
      },
      plan);
}

namespace {

// Those that go through shared memory.
std::vector<Algorithm> shared_algorithms(Operation operation, const TeamResources& resources) {
  switch (operation) {
    case Operation::barrier:
      return barrier_algorithms();
    case Operation::bcast:
      return bcast_algorithms(resources);
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      return reduce_algorithms(operation, resources);
    case Operation::allgather:
    case Operation::allgatherv:
      return allgather_algorithms(resources);
    case Operation::alltoall:
      return alltoall_algorithms(resources);
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
      // In this order: what announces large blocks costs the same as what does not where blocks
      // are small, and is chosen for both.
      return {announced_algorithm(), uneven_algorithm()};
    case Operation::gather:
    case Operation::scatter:
      return rooted_algorithms();
  }
  return {};
}

}  // namespace

std::vector<Algorithm> algorithms(Operation operation, const TeamResources& resources) {
  std::vector<Algorithm> list = shared_algorithms(operation, resources);
  std::vector<Algorithm> direct = direct_algorithms(operation);
  list.insert(list.end(), std::make_move_iterator(direct.begin()),
              std::make_move_iterator(direct.end()));
  return list;
}

namespace {

// Where the machine file lacks a figure, what needs it has no price that can be compared.
double comparable_ns(const Candidate& candidate) {
  return std::isfinite(candidate.ns) ? candidate.ns : std::numeric_limits<double>::infinity();
}

// It is there only where nothing else could serve.
void drop_unpriced(std::vector<Candidate>& list) {
  const auto has_none = [](const Candidate& one) { return !std::isfinite(one.ns); };
  if (!std::all_of(list.begin(), list.end(), has_none)) std::erase_if(list, has_none);
}

// The order of those that are below stays, by less than any figure is exact to.
double no_less(double ns, double least_ns) {
  constexpr double hardly = 1e-6;
  return ns >= least_ns ? ns : std::max(ns, least_ns * (1 - hardly * (1 - ns / least_ns)));
}

}  // namespace

std::vector<Candidate> candidates(const Request& request, const node::RankLocality& locality,
                                  const machine::CostModel& model, const TeamResources& resources) {
  const Prices prices(model, locality);
  std::vector<Candidate> list;
  for (const Algorithm& one : algorithms(request.operation, resources)) {
    one.add(list, prices, resources, request);
  }
  drop_unpriced(list);
  const double least_ns = memory_ns(request, locality, model);
  for (Candidate& one : list) one.ns = no_less(one.ns, least_ns);
  return list;
}

const Candidate& cheapest(const std::vector<Candidate>& candidates) {
  return *std::min_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return comparable_ns(a) < comparable_ns(b); });
}

const Candidate& chosen(const std::vector<Candidate>& candidates, std::string_view forced) {
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates) {
    if (algorithm_name(one.plan) != forced) continue;
    if (best == nullptr || comparable_ns(one) < comparable_ns(*best)) best = &one;
  }
  return best != nullptr ? *best : cheapest(candidates);
}

}  // namespace huddle::select
