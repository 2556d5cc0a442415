// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/select/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/costs.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {
namespace {

std::optional<Candidate> preferred(const Request& request, const node::RankLocality& locality,
                                   const machine::CostModel& model,
                                   const TeamResources& resources) {
  const auto all = candidates(request, locality, model, resources);
  if (all.empty()) return std::nullopt;
  return chosen(all, resources.forcing.algorithm_for(request));
}

bool is_by(std::string_view algorithm, const Candidate& candidate) {
  return algorithm_name(candidate.plan) == algorithm;
}

}  // namespace

double vote_ns(const node::RankLocality& locality, const machine::CostModel& model) {
  return Costs(model, locality).synchronization_ns();
}

// A vote on whether buffers are mapped pays off if the plan for mapped buffers saves more than the
// time of the vote, or if only that plan uses the forced algorithm.
std::optional<Choice<Candidate>> choose(const Request& request, const node::RankLocality& locality,
                                        const machine::CostModel& model,
                                        const TeamResources& resources) {
  const auto usual = preferred(request, locality, model, resources);
  if (!usual) return std::nullopt;
  Choice<Candidate> choice{*usual, std::nullopt};
  if (!resources.heap_refusal.empty()) return choice;
  Request where_mapped = request;
  where_mapped.mapped = true;
  const auto mapped = preferred(where_mapped, locality, model, resources);
  if (!mapped || !is_direct(mapped->plan)) return choice;
  const std::string_view forced = resources.forcing.algorithm_for(request);
  const bool only_mapped = is_by(forced, *mapped) && !is_by(forced, *usual);
  if (only_mapped || mapped->ns + vote_ns(locality, model) < usual->ns)
    choice.where_mapped = mapped;
  return choice;
}

std::vector<Candidate> alternatives_to(const Plan& usual, const Request& request,
                                       const node::RankLocality& locality,
                                       const machine::CostModel& model,
                                       const TeamResources& resources) {
  std::vector<Candidate> fastest;  // of each algorithm
  for (const Candidate& candidate : candidates(request, locality, model, resources)) {
    if (is_by(algorithm_name(usual), candidate)) continue;
    const auto same = std::find_if(fastest.begin(), fastest.end(), [&](const Candidate& other) {
      return is_by(algorithm_name(other.plan), candidate);
    });
    if (same == fastest.end()) {
      fastest.push_back(candidate);
    } else if (candidate.ns < same->ns) {
      *same = candidate;
    }
  }
  std::sort(fastest.begin(), fastest.end(),
            [](const Candidate& a, const Candidate& b) { return a.ns < b.ns; });
  return fastest;
}

namespace {

// The collectives and sizes from which heap_gain() is computed. Both sizes are large by any
// definition.
constexpr std::array large_operations = {Operation::bcast, Operation::allreduce,
                                         Operation::allgather, Operation::alltoall};
constexpr std::array<std::size_t, 2> large_bytes = {std::size_t{512} << 10, std::size_t{4} << 20};

}  // namespace

double heap_gain(const machine::Machine& machine) {
  const node::RankLocality locality =
      node::locality(machine.topology, machine::first_pu_of_cores(machine.topology));
  if (locality.ranks() < 2) return 1;
  const machine::CostModel model(machine);
  TeamResources provided = team_resources(locality, model, usual_queue_bytes);
  provided.heap_refusal.clear();
  double logarithms = 0;
  for (const Operation operation : large_operations) {
    for (const std::size_t bytes : large_bytes) {
      const auto best_ns = [&](bool mapped) {
        const Request request{operation, bytes, sizeof(double), mapped};
        return cheapest(candidates(request, locality, model, provided)).ns;
      };
      const double without_ns = best_ns(false);
      logarithms += std::log(without_ns / std::min(without_ns, best_ns(true)));
    }
  }
  return std::exp(logarithms / (large_operations.size() * large_bytes.size()));
}

bool heap_pays(const machine::Machine& machine) {
  const auto cost = machine::heap_cost(machine);
  return cost && !cost->is_felt() && heap_gain(machine) > 1;
}

}  // namespace huddle::select
