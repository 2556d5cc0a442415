// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Predicts the time of a plan by running its protocol in a simulated context, on a machine that
// need not be available. This checks the closed-form predictions in select.
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
  int root = 0;  // for operations that have one
  // Called repeatedly with the fraction of the work that is complete, ascending from 0 to 1.
  std::function<void(double share)> progress = {};
  double expected_ns = 0;  // of one call, for the progress of the first; 0: unknown
};

// Simulates one call of the plan, from the moment when all ranks call until each has finished.
// Warm-up calls before it fill the caches and use all slots of the protocol's queues.
// Requires: at least two ranks, each with its own hardware thread; a plan of one of the request's
// candidates; a root that is one of the ranks.
protocols::model::Outcome predict(const Question& question, const select::Plan& plan);

// Returns a trace for Perfetto and chrome://tracing with one lane per rank.
std::string trace_json(const protocols::model::Outcome& outcome);

}  // namespace huddle::protocols
