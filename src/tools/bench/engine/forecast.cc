// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/forecast.h"

#include "runtime/select/algorithm.h"
#include "runtime/team/context.h"
#include "tools/bench/engine/reading.h"

namespace huddle::bench {

Forecast::Forecast(const machine::Machine& machine, const Binding& binding, bool may_read)
    : model(machine),
      locality(node::locality(machine.topology, binding.counted_for())),
      resources(select::team_resources(locality, model, team::ContextOptions().queue_bytes)),
      prices(model, locality) {
  if (!may_read) resources.refuse_paths("no rank may read another one's memory here");
}

Forecast::Forecast(const machine::Machine& machine, const Binding& binding)
    : Forecast(machine, binding, ranks_may_read()) {}

std::vector<select::Candidate> Forecast::candidates(const select::Request& request) const {
  return select::candidates(request, locality, model, resources);
}

std::vector<select::Candidate> Forecast::best_of_each(const select::Request& request) const {
  std::vector<select::Candidate> best;
  for (const select::Algorithm& one : select::algorithms(request.operation, resources)) {
    std::vector<select::Candidate> plans;
    one.add(plans, prices, resources, request);
    if (!plans.empty()) best.push_back(select::cheapest(plans));
  }
  return best;
}

double Forecast::cheapest_ns(const select::Request& request) const {
  return select::cheapest(candidates(request)).ns;
}

}  // namespace huddle::bench
