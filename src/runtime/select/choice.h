// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The choice of algorithms for a request: one for buffers anywhere, and one for calls in which
// every rank has mapped its peers' buffers. Also predicts the speed-up by a shared heap.
#pragma once

#include <optional>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {

// The plans that run for a class of calls. `Of` is a Candidate while predicted times are compared,
// a Plan when the ranks agree on it, and a team::BoundPlan once the protocols are set up.
template <class Of>
struct Choice {
  Of usual;
  // Runs if the buffers of all ranks are in heaps that their peers have mapped. Set only if it pays
  // off that the ranks vote on this in each such call.
  std::optional<Of> where_mapped;
};

// Returns the choice with `convert` applied to `usual`, then to `where_mapped` if it is set.
template <class Of, class Convert>
auto converted(const Choice<Of>& choice, Convert convert) {
  Choice<decltype(convert(choice.usual))> result{convert(choice.usual), std::nullopt};
  if (choice.where_mapped) result.where_mapped = convert(*choice.where_mapped);
  return result;
}

// Returns the predicted time of a vote on whether buffers are mapped.
double vote_ns(const node::RankLocality& locality, const machine::CostModel& model);

// Chooses among the candidates of the forced algorithm if it can handle the request, otherwise
// among all. Returns nothing if no algorithm can handle the request.
// Requires: at least two ranks, and `request.mapped` is false.
std::optional<Choice<Candidate>> choose(const Request& request, const node::RankLocality& locality,
                                        const machine::CostModel& model,
                                        const TeamResources& resources);

// Returns other candidates than `usual` for buffers anywhere, the most promising first: the
// cheapest one of each other copy method, the cheapest one of each other algorithm, candidates of
// the same algorithm whose pieces are larger or smaller by factors of about 4, and some with
// another copy method and other pieces. Figures that are wrong can make each of these look more
// expensive than it is. Every third one is of another algorithm, as long as there are any.
//
// Requires: `usual` can handle the request.
std::vector<Candidate> alternatives_to(const Plan& usual, const Request& request,
                                       const node::RankLocality& locality,
                                       const machine::CostModel& model,
                                       const TeamResources& resources);

// Returns the predicted speed-up by a shared heap: time without it divided by time with it, as the
// geometric mean over some collectives with large messages among all cores.
double heap_gain(const machine::Machine& machine);

// Returns whether a shared heap makes collectives faster on this machine and is known not to slow
// down the rest of a program. A gain does not justify a cost, because the share of time that a
// program spends in collectives is unknown. A cost that has not been measured counts as a cost.
bool heap_pays(const machine::Machine& machine);

}  // namespace huddle::select
