// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Explanations of a team's choices: the request, all candidates that could serve it, and the chosen
// one.
#pragma once

#include <string>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {

struct Explanation {
  Request request;
  int ranks = 1;
  bool calibrated = false;
  std::vector<Candidate> candidates;  // if empty, because_there_is_none() returns the reason
  // Paths by which ranks might access each other's memory, with the reasons why they cannot.
  std::vector<PathState> paths = {};
  // The forced algorithm, even if it cannot serve the request; empty if none is forced.
  std::string forced = {};
  // The ranks' settings force different algorithms; rank 0's setting applies.
  bool ranks_force_different_algorithms = false;
};

// Returns why ranks cannot read each other's memory by any path. The result is empty if at least
// one path works or has not been tried.
std::string direct_refusal(const Explanation& explanation);

// Explains which algorithm a team of these ranks would run.
Explanation explain(const Request& request, const node::RankLocality& locality,
                    const machine::CostModel& model, const TeamResources& resources);

// Returns why an explanation has no candidates.
std::string because_there_is_none(const Explanation& explanation);

// Returns the candidate that would run.
// Requires: there are candidates.
const Candidate& chosen(const Explanation& explanation);
// Returns a sentence about the forced algorithm, or why it cannot be used; empty if none is forced.
std::string forcing_text(const Explanation& explanation);

// Returns the candidates, cheapest first.
std::vector<Candidate> by_cost(std::vector<Candidate> candidates);

std::string explanation_text(const Explanation& explanation);
// Returns one JSON object of schema version 1.
std::string explanation_json(const Explanation& explanation);

}  // namespace huddle::select
