// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks on processors of a machine, and what things cost them.
#pragma once

#include <utility>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/prices.h"
#include "simulate/protocols/predict.h"

namespace huddle::reproduce {

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
    return predict::predict({request, locality, resources, model}, plan).all_ns();
  }

  machine::CostModel model;
  node::RankLocality locality;
  select::Prices prices;
};

}  // namespace huddle::reproduce
