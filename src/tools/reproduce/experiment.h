// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How huddle comes to a figure of its own for one that was published. Each paper has a file of
// experiments; none of them has a figure of the paper's results in it.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/node/locality.h"
#include "runtime/select/costs.h"
#include "simulate/protocols/predict.h"

namespace huddle::reproduce {

// What it takes: nothing but the paper, what a node costs, how nodes are joined, or a measurement
// on the machine that we are on.
using OfPaper = std::function<double()>;
using OfMachine = std::function<double(const machine::Machine&)>;
using OfFabric = std::function<double(const fabric::Cluster&)>;
struct OfHere {
  int buffers = 1;  // a broadcast through so many, by the time of one
};

struct Experiment {
  std::string figure;  // the name of the published one
  std::variant<OfPaper, OfMachine, OfFabric, OfHere> ours;
  // The same by the protocol itself in the modelled world, where huddle has the protocol.
  OfMachine simulated = {};
};

std::vector<Experiment> zhang_experiments();
std::vector<Experiment> liu_experiments();
std::vector<Experiment> kurnosov_experiments();
std::vector<Experiment> chen_experiments();
std::vector<Experiment> lu_experiments();

// Everything that is done again of one paper.
struct Laboratory {
  std::string_view paper;
  std::vector<Experiment> (*experiments)();
};
std::span<const Laboratory> laboratories();

// Ranks on processors of a machine, and what things cost them.
struct Seated {
  // The machine has to outlive it.
  Seated(const machine::Machine& machine, std::vector<int> pus)
      : model(machine),
        locality(node::locality(machine.topology, std::move(pus))),
        prices(model, locality) {}
  // One on every processor.
  explicit Seated(const machine::Machine& machine) : Seated(machine, machine.topology.pus.cpus()) {}
  // Prices refer to the locality that they were made with.
  Seated(const Seated&) = delete;
  Seated& operator=(const Seated&) = delete;

  // What a call takes in the modelled world by a plan of this resources.
  double simulated_ns(const select::Request& request, const select::TeamResources& resources,
                      const select::Plan& plan) const {
    return protocols::predict({request, locality, resources, model}, plan).all_ns();
  }

  machine::CostModel model;
  node::RankLocality locality;
  select::Prices prices;
};

// A machine as it might as well be: what is only estimated of it, drawn anew. How far an answer
// moves with that is how much of it is the guess.

// How far from its estimate a figure may lie, as a share.
inline constexpr double estimates_spread = 0.25;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  // Evenly from 1 - estimates_spread to 1 + estimates_spread, the same on every machine.
  double factor();

 private:
  std::mt19937_64 engine_;
};

// Each estimated figure times a factor of its own; a curve is one figure, and keeps its shape. What
// was measured or published stays. The result is a machine that validate() accepts.
machine::Machine redrawn(machine::Machine machine, Draws& draws);
// The same of the nodes and of the links between switches; those of one height are one figure.
fabric::Cluster redrawn(fabric::Cluster cluster, Draws& draws);

}  // namespace huddle::reproduce
