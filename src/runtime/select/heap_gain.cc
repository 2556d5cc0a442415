// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/heap_gain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "model/machine/cost.h"
#include "model/machine/heap_cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {
namespace {

// What the gain is taken from: messages of which nobody would say that they are small.
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
