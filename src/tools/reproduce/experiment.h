// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Experiments: how huddle computes its own value for a published figure. Each paper has a file of
// experiments, which does not contain any results of the paper.
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

// The input of an experiment: the paper alone (for one value, or for those of a column), a node's
// machine model, a fabric, or measurements on this machine.
using OfPaper = std::function<double()>;
using OfColumn = std::function<std::vector<double>()>;
using OfMachine = std::function<double(const machine::Machine&)>;
using OfFabric = std::function<double(const fabric::Cluster&)>;
struct OfHere {
  int fragment_pages = 1;  // compares a broadcast by fragments of this size to one by single pages
};
using Ours = std::variant<OfPaper, OfColumn, OfMachine, OfFabric, OfHere>;

struct Experiment {
  std::string figure;  // name of the published figure
  Ours ours;
  // The same value simulated with the protocol itself, if huddle has it.
  OfMachine simulated = {};
  // The same value if the model differs only in what the figure names as the cause of a miss.
  OfMachine changed = {};
};

std::vector<Experiment> zhang_experiments();
std::vector<Experiment> liu_experiments();
std::vector<Experiment> kurnosov_experiments();
std::vector<Experiment> chen_experiments();
std::vector<Experiment> lu_experiments();
std::vector<Experiment> xhc_experiments();

// All experiments of one paper.
struct Laboratory {
  std::string_view paper;
  std::vector<Experiment> (*experiments)();
  // Figures of the machine file were fitted to figures of the paper.
  bool is_fitted = false;
};
std::span<const Laboratory> laboratories();

// Ranks on hardware threads of a machine, and their costs.
struct Seated {
  // Keeps a reference to the machine.
  Seated(const machine::Machine& machine, std::vector<int> pus)
      : model(machine),
        locality(node::locality(machine.topology, std::move(pus))),
        costs(model, locality) {}
  // Places one rank on each hardware thread of the machine.
  explicit Seated(const machine::Machine& machine) : Seated(machine, machine.topology.pus.cpus()) {}
  // `costs` refers to `locality`.
  Seated(const Seated&) = delete;
  Seated& operator=(const Seated&) = delete;

  // Returns the simulated time of a call with this plan.
  double simulated_ns(const select::Request& request, const select::TeamResources& resources,
                      const select::Plan& plan) const {
    return protocols::predict({request, locality, resources, model}, plan).all_ns();
  }

  machine::CostModel model;
  node::RankLocality locality;
  select::Costs costs;
};

// Maximum relative deviation of a redrawn figure from its estimate.
inline constexpr double estimates_spread = 0.25;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  // Returns a uniform number between 1 - estimates_spread and 1 + estimates_spread; the sequence is
  // the same on every machine.
  double factor();

 private:
  std::mt19937_64 engine_;
};

// Multiplies each estimated figure by a random factor; a curve is one figure and keeps its shape.
// Measured and published figures stay unchanged. validate() accepts the result. Results from many
// redrawn machines show how much they depend on the estimates.
machine::Machine redrawn(machine::Machine machine, Draws& draws);
// Redraws the machine of the nodes and the links between switches. All links of the same height in
// the network are one figure.
fabric::Cluster redrawn(fabric::Cluster cluster, Draws& draws);

}  // namespace huddle::reproduce
