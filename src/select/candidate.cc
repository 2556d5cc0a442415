// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/candidate.h"

#include <algorithm>
#include <array>

#include "select/barrier.h"
#include "select/bcast.h"
#include "select/reduce.h"

namespace huddle::select {

std::string_view algorithm_name(const Plan& plan) {
  static constexpr std::array<std::string_view, std::variant_size_v<Plan>> names = {
      "tree", "dissemination", "inline", "pipelined", "segmented", "exchange", "blocks", "slices"};
  return names[plan.index()];
}

std::vector<Candidate> candidates(const Request& request, const node::Seats& seats,
                                  const machine::CostModel& model, const Provision& provision) {
  const Prices prices(model, seats);
  switch (request.operation) {
    case Operation::barrier:
      return barrier_candidates(prices, provision);
    case Operation::bcast:
      return bcast_candidates(prices, provision, request.bytes);
    case Operation::reduce:
    case Operation::allreduce:
      return reduce_candidates(prices, provision, request);
  }
  return {};
}

const Candidate& cheapest(const std::vector<Candidate>& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [](const Candidate& a, const Candidate& b) { return a.ns < b.ns; });
}

}  // namespace huddle::select
