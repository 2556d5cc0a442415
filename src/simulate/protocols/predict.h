// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a plan would take, by its protocol itself in a modelled world: a second opinion on the
// closed forms of select, on a machine that need not be here.
#pragma once

#include <functional>
#include <string>

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"
#include "simulate/protocols/model/simulated_context.h"

namespace huddle::protocols {

struct Question {
  select::Request request;
  const node::RankLocality& locality;
  const select::TeamResources& resources;
  const machine::CostModel& model;
  bool traced = false;
  int root = 0;  // of operations that have one
  // Is called again and again with the share of the work that is done: 0 to 1, rising.
  std::function<void(double share)> progress = {};
  double expected_ns = 0;  // of one call, for the progress of the first; 0: unknown
};

// Simulates the plan, from the moment when all ranks call until each is through, after calls that
// have filled the caches and the protocol's queues.
// Requires: two ranks or more, each with a processor of its own; the plan is one of the request's
// candidates; the root is one of the ranks.
protocols::model::Outcome predict(const Question& question, const select::Plan& plan);

// What Perfetto and chrome://tracing open: a lane for each rank.
std::string trace_json(const protocols::model::Outcome& outcome);

}  // namespace huddle::protocols
