// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a plan would take, by its protocol itself in a modelled world: a second opinion on the
// closed forms of select, on a machine that need not be here.
#pragma once

#include <string>

#include "machine/cost.h"
#include "node/locality.h"
#include "predict/model/model_world.h"
#include "select/candidate.h"
#include "select/operation.h"
#include "select/team_resources.h"

namespace huddle::predict {

struct Question {
  select::Request request;
  const node::RankLocality& locality;
  const select::TeamResources& resources;
  const machine::CostModel& model;
  bool traced = false;
};

// From the moment when all call until each is through, after calls that have filled the caches and
// the protocol's queues. The first rank is the root. pre: two ranks or more, each with a processor
// of its own; the plan is one of the request's candidates.
predict::model::Outcome predict(const Question& question, const select::Plan& plan);

// What Perfetto and chrome://tracing open: a lane for each rank.
std::string trace_json(const predict::model::Outcome& outcome);

}  // namespace huddle::predict
