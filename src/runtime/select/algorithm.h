// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What an algorithm says of itself: its name, what it needs, and its plans at their prices. Each is
// described where its prices are, in barrier.cc, bcast.cc, reduce.cc, exchange.cc and direct.cc.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/prices.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {

struct Algorithm {
  using Add = void(std::vector<Candidate>& list, const Prices& prices,
                   const TeamResources& resources, const Request& request);

  std::string_view name;  // as algorithm_name() has it of each of its plans
  std::string needs;      // in words; empty: nothing
  Add* add;               // its plans for a request; none for one that it cannot serve
};

template <class PlanOfIt>
Algorithm described(std::string needs, Algorithm::Add* add) {
  return {algorithm_name(PlanOfIt{}), std::move(needs), add};
}

// All that there are for an operation, in the order of their candidates, whether or not they can
// serve a request here.
std::vector<Algorithm> algorithms(Operation operation, const TeamResources& resources);

}  // namespace huddle::select
