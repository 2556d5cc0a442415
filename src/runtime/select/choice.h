// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is to run for a request: where the ranks' buffers lie anywhere, and where each has mapped
// what the others hand in.
#pragma once

#include <optional>

#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {

struct Choice {
  Candidate usual;
  // There where it is worth asking, in each such call, whether all have mapped the others' buffers.
  std::optional<Candidate> where_mapped;
  double asking_ns = 0;  // what that takes
};

// Of what is forced where that can serve, else the cheapest. Nothing where nothing can serve the
// request. pre: two ranks or more; `request.mapped` is false.
std::optional<Choice> choose(const Request& request, const node::RankLocality& locality,
                             const machine::CostModel& model, const TeamResources& resources);

// What a shared heap is worth on a machine.

// Predicted time without it over that with it: geometric mean of some collectives of large messages
// among all cores.
double heap_gain(const machine::Machine& machine);

// Whether it gains something there and costs nothing. How much of its time a program spends in
// collectives is not known, so no gain makes up for a cost; and what nobody has measured may cost.
bool heap_pays(const machine::Machine& machine);

}  // namespace huddle::select
