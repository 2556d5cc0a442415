// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Why a team does what it does: the request, everything that could have served it, and the choice.
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
  std::vector<Candidate> candidates;  // none: because_there_is_none() says why
  // By which paths ranks might read each other's memory, and why they do not.
  std::vector<PathState> paths = {};
  // The algorithm that was to serve this, whether or not it can; empty: none was named.
  std::string forced = {};
  // Whether ranks were told different things to force; then the lowest one's holds.
  bool is_forcing_unlike = false;
};

// Why no rank reads another one's memory, by whatever path; empty where one works, or nobody has
// tried.
std::string direct_refusal(const Explanation& explanation);

// What a team of such ranks would do.
Explanation explain(const Request& request, const node::RankLocality& locality,
                    const machine::CostModel& model, const TeamResources& resources);

// Of an explanation without candidates.
std::string because_there_is_none(const Explanation& explanation);

// The one that would run. pre: there are candidates.
const Candidate& chosen(const Explanation& explanation);
// What is forced, or could not be, in a sentence; empty where nothing is.
std::string forcing_text(const Explanation& explanation);

// The candidates, cheapest first.
std::vector<Candidate> by_cost(std::vector<Candidate> candidates);

std::string explanation_text(const Explanation& explanation);
// One object, schema version 1.
std::string explanation_json(const Explanation& explanation);

}  // namespace huddle::select
