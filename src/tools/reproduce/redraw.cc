// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/reproduce/experiment.h"

#include <algorithm>
#include <map>

namespace huddle::reproduce {
namespace {

using machine::Curve;
using machine::Origin;

void redraw(Curve& curve, Draws& draws) {
  const double factor = draws.factor();
  for (double& ns : curve.ns) ns *= factor;
}

template <class Entries>
void redraw_curves(Entries& entries, Draws& draws) {
  for (auto& entry : entries) {
    if (entry.origin == Origin::estimated) redraw(entry.curve, draws);
  }
}

void redraw(machine::LineCost& line, Draws& draws) {
  if (line.origin == Origin::estimated) line.one_way_ns *= draws.factor();
  if (line.shared_origin.value_or(line.origin) == Origin::estimated) {
    line.shared_ns *= draws.factor();
  }
  if (line.steps_origin == Origin::estimated) {
    line.reader_step_ns *= draws.factor();
    line.writer_step_ns *= draws.factor();
    if (line.load_step_ns) *line.load_step_ns *= draws.factor();
  }
}

void redraw(machine::MemoryCost& memory, Draws& draws) {
  if (memory.origin != Origin::estimated) return;
  memory.load_ns *= draws.factor();
  // Far memory is not faster than near memory, which is the reference.
  if (memory.copy_factor > 1) {
    memory.copy_factor = std::max(1.0, memory.copy_factor * draws.factor());
  }
}

void redraw(machine::Network& network, Draws& draws) {
  if (network.origin != Origin::estimated) return;
  redraw(network.curve, draws);
  network.gap_ns *= draws.factor();
  network.node_gb_per_s *= draws.factor();
  // The CPU time of both sides is part of the message's time.
  network.cpu_ns =
      std::min(network.cpu_ns * draws.factor(), machine::time_at(network.curve, 0) / 2);
}

void redraw(fabric::Links& links, Draws& draws) {
  links.gb_per_s *= draws.factor();
  links.latency_ns *= draws.factor();
}

}  // namespace

// Does not use std::uniform_real_distribution: the standard defines the engine's numbers, but not
// how a library converts them to fractions.
double Draws::factor() {
  constexpr double steps = 9007199254740992;  // 2^53: the precision of a double
  const double fraction = static_cast<double>(engine_() >> 11) / steps;
  return 1 + estimates_spread * (2 * fraction - 1);
}

machine::Machine redrawn(machine::Machine machine, Draws& draws) {
  for (machine::LineCost& line : machine.line) redraw(line, draws);
  redraw_curves(machine.copy, draws);
  redraw_curves(machine.copy_past_caches, draws);
  redraw_curves(machine.handoff, draws);
  for (machine::MemoryCost& memory : machine.memory) redraw(memory, draws);
  redraw_curves(machine.paths, draws);
  for (machine::SystemCost& system : machine.system) {
    if (system.origin == Origin::estimated) system.ns *= draws.factor();
  }
  for (machine::Network& network : machine.networks) redraw(network, draws);
  return machine;
}

fabric::Cluster redrawn(fabric::Cluster cluster, Draws& draws) {
  cluster.machine = redrawn(std::move(cluster.machine), draws);
  for (const machine::Network& network : cluster.machine.networks) {
    if (network.name == cluster.network.name) cluster.network = network;
  }
  std::map<int, fabric::Links> of_height;
  for (fabric::Switch& one : cluster.fabric.switches) {
    if (one.above < 0 || one.links.origin != Origin::estimated) continue;
    const auto [known, is_new] = of_height.emplace(one.height, one.links);
    if (is_new) redraw(known->second, draws);
    one.links = known->second;
  }
  return cluster;
}

}  // namespace huddle::reproduce
