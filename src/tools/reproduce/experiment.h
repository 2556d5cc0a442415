// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How huddle comes to a figure of its own for one that was published. Each paper has a file of
// experiments; none of them has a figure of the paper's results in it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/machine/machine.h"

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

}  // namespace huddle::reproduce
