// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// C. Lu: the benefit of placing threads with LHMapping, measured in bytes times distance.
#include <numeric>

#include "placement/mapping/graph.h"
#include "placement/mapping/method.h"
#include "placement/mapping/random.h"
#include "tools/reproduce/experiment.h"

namespace huddle::reproduce {
namespace {

using machine::Machine;
using mapping::Mapping;

// Returns the hardware threads of as few sockets as these threads need.
std::vector<int> sockets_for(const Machine& machine, int threads) {
  std::vector<int> pus;
  for (const machine::CpuSet& package : machine::find_level(machine.topology, "package")->groups) {
    if (static_cast<int>(pus.size()) >= threads) break;
    for (const int pu : package) pus.push_back(pu);
  }
  return pus;
}

// Returns the cost of LHMapping relative to that of 20 random mappings. They are the same for every
// machine.
double by_no_order(const Machine& machine, mapping::Pattern pattern, int threads) {
  constexpr int orders = 20;
  constexpr std::uint64_t seed = 1;
  const machine::CostModel model(machine);
  const mapping::SlotTree tree(model, {.pus = sockets_for(machine, threads)});
  const mapping::Graph graph = mapping::graph_of(pattern, threads, seed);
  mapping::Random random(seed);
  Mapping slots(static_cast<std::size_t>(tree.size()));
  std::iota(slots.begin(), slots.end(), 0);
  double mapped = 0;
  double in_no_order = 0;
  for (int order = 0; order < orders; ++order) {
    random.shuffle(slots);
    const Mapping present(slots.begin(), slots.begin() + threads);
    const mapping::MappingProblem problem{graph, tree, Mapping(present.size(), mapping::no_slot),
                                          present};
    mapped += mapping::hop_bytes(problem, mapping::lh(problem));
    in_no_order += mapping::hop_bytes(problem, present);
  }
  return mapped / in_no_order;
}

// Returns the experiment for a rotor: each thread has some of the 36 adjacent flow passages and
// communicates with its two neighbours.
OfMachine rotor(int threads) {
  return [threads](const Machine& machine) {
    return by_no_order(machine, mapping::Pattern::ring, threads);
  };
}

OfMachine rotor_gains_more(int threads, int fewer) {
  return [threads, fewer](const Machine& machine) {
    return rotor(threads)(machine) / rotor(fewer)(machine);
  };
}

}  // namespace

std::vector<Experiment> lu_experiments() {
  return {
      {"rotor-6", rotor(6)},
      {"rotor-12", rotor(12)},
      {"rotor-24", rotor_gains_more(24, 12)},
      {"rotor-36", rotor_gains_more(36, 24)},
      {"all-to-all", OfMachine([](const Machine& machine) {
         return by_no_order(machine, mapping::Pattern::all_to_all, machine.topology.pus.count());
       })},
  };
}

}  // namespace huddle::reproduce
