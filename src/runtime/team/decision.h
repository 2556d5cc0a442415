// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a team is to run for a class of calls. The lowest rank chooses and shows it to the others:
// prices are floating point numbers, and those of two ranks may differ in the last place, by their
// libraries of mathematics or by how their huddle was built; ranks that chose by them, each for
// itself, could wait in different algorithms for each other.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/team/agree.h"
#include "runtime/team/team_memory.h"

namespace huddle::team {

class SelectionInputs;

struct Decision {
  Trouble trouble;  // of the rank that shows it; if there is any, nothing of the rest holds
  std::uint64_t number = 0;  // no two of the lowest rank's are alike
  bool is_possible = false;  // false: elements are larger than any slot
  // Whether it is worth asking if all have mapped what the others hand in.
  bool asks = false;
  select::Plan usual;
  select::Plan where_mapped;  // where it asks
};
static_assert(std::is_trivially_copyable_v<Decision>);
static_assert(sizeof(Decision) <= TeamMemory::most_notice_bytes);

// By this rank's prices.
Decision decide(const select::Request& request, const SelectionInputs& selection_inputs);

// Collective. The lowest rank's decision, for all, once all have prepared; where one of them fails
// at that, or the lowest at deciding, all throw the same FailureError. All throw the same
// UsageError where there is nothing to decide between.
template <class Prepare>
Decision agreed_decision(TeamMemory& team_memory, const select::Request& request,
                         const SelectionInputs& selection_inputs, Prepare prepare);

// The lowest rank's, of everybody's. Throws as above.
Decision decision_of(std::span<const Decision> by_rank, const select::Request& request);

template <class Prepare>
Decision agreed_decision(TeamMemory& team_memory, const select::Request& request,
                         const SelectionInputs& selection_inputs, Prepare prepare) {
  Decision mine;
  mine.trouble = Trouble::of([&] {
    prepare();
    if (team_memory.rank() == 0) mine = decide(request, selection_inputs);
  });
  return decision_of(team_memory.gather(mine), request);
}

}  // namespace huddle::team
