// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A placement problem for tests: a machine with round latencies, and a graph.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/mapping.h"
#include "placement/mapping/method.h"
#include "placement/mapping/random.h"

namespace huddle::mapping::test {

inline machine::Machine with_distances(const machine::Topology& topology) {
  machine::Machine machine;
  machine.topology = topology;
  double ns = 10;
  for (const std::string& level : machine::joining_levels(topology)) {
    machine.line.push_back({level, ns, ns, 1, 1, 0, machine::Origin::estimated});
    ns *= 3;
  }
  return machine;
}

inline machine::Machine synthetic(const std::string& description) {
  return with_distances(machine::discover_from_synthetic(description).topology);
}

// Owns the objects to which the problem refers. Elements are initially placed in numeric order.
class Scene {
 public:
  Scene(machine::Machine machine, Graph graph, int nodes = 1)
      : Scene(std::move(machine), std::move(graph), {}, nodes) {}
  Scene(machine::Machine machine, Graph graph, std::vector<int> pus, int nodes)
      : machine_(std::make_unique<machine::Machine>(std::move(machine))),
        graph_(std::make_unique<Graph>(std::move(graph))),
        model_(std::make_unique<machine::CostModel>(*machine_)) {
    if (pus.empty()) pus = machine_->topology.pus.cpus();
    tree_ = std::make_unique<SlotTree>(*model_, SlotRequest{std::move(pus), nodes, 1000});
    problem_ = std::make_unique<MappingProblem>(MappingProblem{
        *graph_, *tree_, Mapping(static_cast<std::size_t>(graph_->size()), no_slot), {}, 1});
    problem_->present = in_order(*problem_);
  }

  MappingProblem& problem() { return *problem_; }
  const SlotTree& tree() const { return *tree_; }
  double cost(const Mapping& mapping) const { return hop_bytes(*problem_, mapping); }
  // Fixes the first `count` elements to random slots.
  void fix(int count, std::uint64_t seed) {
    std::vector<int> slots(static_cast<std::size_t>(tree_->size()));
    for (std::size_t s = 0; s < slots.size(); ++s) slots[s] = static_cast<int>(s);
    Random random(seed);
    random.shuffle(slots);
    for (int v = 0; v < count; ++v) {
      problem_->fixed[static_cast<std::size_t>(v)] = slots[static_cast<std::size_t>(v)];
    }
    problem_->present = in_order(*problem_);
  }

 private:
  std::unique_ptr<machine::Machine> machine_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<machine::CostModel> model_;
  std::unique_ptr<SlotTree> tree_;
  std::unique_ptr<MappingProblem> problem_;
};

// A complete graph with random weights.
inline Graph dense_random(int size, std::uint64_t seed) {
  GraphBuilder builder(size);
  Random random(seed);
  for (int a = 0; a < size; ++a) {
    for (int b = a + 1; b < size; ++b) builder.add({a, b, 1 + 999 * random.fraction()});
  }
  return builder.finish();
}

}  // namespace huddle::mapping::test
