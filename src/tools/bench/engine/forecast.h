// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a team would choose from, before it is made.
#pragma once

#include <vector>

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/node/shape.h"
#include "runtime/select/candidate.h"
#include "runtime/select/prices.h"
#include "runtime/select/team_resources.h"
#include "tools/bench/engine/binding.h"

namespace huddle::bench {

struct Forecast {
  // may_read: whether ranks may read each other's memory there.
  Forecast(const machine::Machine& machine, const Binding& binding, bool may_read);
  // The same where the ranks are to run: they try whether they may.
  Forecast(const machine::Machine& machine, const Binding& binding);
  Forecast(machine::Machine&& machine, const Binding& binding) = delete;  // the model refers to it
  Forecast(const Forecast&) = delete;
  Forecast& operator=(const Forecast&) = delete;

  std::vector<select::Candidate> candidates(const select::Request& request) const;
  // The cheapest candidate of each algorithm, in the order of algorithms.
  std::vector<select::Candidate> best_of_each(const select::Request& request) const;
  double cheapest_ns(const select::Request& request) const;
  node::Tree tree(const node::Shape& shape) const { return node::tree(shape, locality, 0); }
  bool has_levels() const { return !locality.group_of.empty(); }

  machine::CostModel model;
  node::RankLocality locality;
  select::TeamResources resources;
  select::Prices prices;
};

}  // namespace huddle::bench
