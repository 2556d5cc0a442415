// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Proves a schedule for one call: runs the rounds of all ranks with symbols in place of data.
//
//   - At the end every place holds what the operation promises: the right block, which came once;
//     of a reduction every contribution once, and in the brackets of association.h where the
//     schedule keeps order, whatever brackets else.
//   - Every send has its receive in the same round, with as many blocks, and there is one message
//     at most from a rank to another in a round. By induction over rounds nobody waits in a circle
//     then, even where every send waits for its receiver: all of a rank's messages are posted at
//     once, and those who lack the fewest rounds wait for nobody who lacks more.
//   - Nothing is read, sent or received into while a message comes in there; nothing is read that
//     was never written; nothing lies outside the buffers and the scratch that was asked for.
//   - Rounds, messages and blocks of each rank are what the schedule claims.
//   - All of this with input and output in one buffer, too, where that is asked.
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

// What is wrong with it; nothing where it is proven.
std::optional<std::string> flaw_in(const Proof& proof);

// Whether what spares others work is true: that rounds are alike, in traffic or in peers, and that
// nothing happens outside active rounds. Makes most rounds twice.
std::optional<std::string> flaw_in_hints(const Schedule& schedule);

}  // namespace huddle::schedules
