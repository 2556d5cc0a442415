// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Proves that a schedule is correct for one call, by running the rounds of all ranks with symbols
// in place of data. Checks the following properties:
//
// - At the end every place contains the result of the operation: the right block, received exactly
//   once; in a reduction every contribution exactly once, combined as in reduction_tree.h if the
//   schedule keeps the order, otherwise in any order.
// - Every send has a matching receive in the same round with the same number of blocks, and there
//   is at most one message from a rank to another per round. This excludes deadlock (by induction
//   over rounds) even if a send completes only when its receiver arrives: a rank posts all messages
//   of a round at once, and the ranks in the earliest unfinished round wait only for each other.
// - No place is read, sent from or received into while a message arrives there; no place is read
//   before it was written; no access is outside the buffers and the scratch that the schedule
//   requested.
// - The rounds, messages and blocks of each rank are those that the schedule reports.
// - If requested, all of this holds with input and output in one buffer.
#pragma once

#include <optional>
#include <string>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/schedule.h"

namespace huddle::schedules {

struct Proof {
  const Schedule& schedule;
  Operation operation;
  Order order;
  bool in_place = false;
};

// Returns a description of the first flaw, or nothing if the schedule is correct.
std::optional<std::string> flaw_in(const Proof& proof);

// Checks the hints of a schedule: like(), peers_like() and active(). Returns a description of the
// first wrong one, or nothing. Computes most rounds twice.
std::optional<std::string> flaw_in_hints(const Schedule& schedule);

}  // namespace huddle::schedules
