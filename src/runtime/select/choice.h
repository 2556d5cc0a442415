// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The choice of an algorithm for a request: one for buffers anywhere, and one for calls in which
// every rank has mapped its peers' buffers. Also predicts what a shared heap gains on a machine.
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
  // Set if it pays off to vote in each such call on whether all ranks have mapped their peers'
  // buffers.
  std::optional<Candidate> where_mapped;
  double asking_ns = 0;  // predicted time of that vote
};

// Chooses among the candidates of the forced algorithm if it can serve the request, otherwise among
// all. Returns nothing if no algorithm can serve the request.
// Requires: at least two ranks, and `request.mapped` is false.
std::optional<Choice> choose(const Request& request, const node::RankLocality& locality,
                             const machine::CostModel& model, const TeamResources& resources);

// Returns the predicted speed-up by a shared heap: time without it divided by time with it, as the
// geometric mean over some collectives with large messages among all cores.
double heap_gain(const machine::Machine& machine);

// Returns whether a shared heap gains something on this machine and is known to cost nothing. A
// gain does not make up for a cost because the share of time that a program spends in collectives
// is unknown; a cost that has not been measured counts as a cost.
bool heap_pays(const machine::Machine& machine);

}  // namespace huddle::select
