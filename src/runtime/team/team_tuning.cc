// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The part of a team that lets measured times decide which algorithm runs a call: see tuner.h.
#include <cstdint>
#include <span>
#include <string_view>

#include "common/error.h"
#include "runtime/context/errors.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/team.h"

namespace huddle::team {

// Collective until the alternative is set up. Returns the usual plan if there is no alternative, if
// it is not set up yet, or if a rank lacks memory for it.
const BoundPlan& Team::alternative_to(Chosen& chosen, const select::Request& request) {
  if (chosen.alternative_number != turn_.alternative) {
    last_run_ = nullptr;  // may be the present alternative
    chosen.alternative.reset();
    chosen.alternative_number = turn_.alternative;
    chosen.next_alternative = agreed_alternative(team_memory_, chosen.choice.usual.plan(), request,
                                                 *selection_inputs_, turn_.alternative);
  }
  if (chosen.next_alternative && !chosen.alternative) set_up_alternative(chosen);
  if (chosen.alternative) return *chosen.alternative;
  if (turn_.is_in_trial && !chosen.next_alternative) tuner_.drop_alternative(turn_);
  return chosen.choice.usual;
}

// Collective. Postpones the set-up if the class's calls have not taken much longer than it would.
void Team::set_up_alternative(Chosen& chosen) {
  const select::Plan& plan = chosen.next_alternative->plan;
  if (turn_.is_in_trial) {
    const std::uint32_t own = rank_ == 0
                                  ? tuner_.calls_that_justify(turn_, engine_.set_up_ns(plan),
                                                              chosen.next_alternative->predicted_ns)
                                  : 0;
    const std::uint32_t calls = team_memory_.gather(own).front();
    if (calls > 0) return tuner_.postpone_alternative(turn_, calls);
  }
  try {
    if (may_run(plan, false)) chosen.alternative = engine_.bound(plan);
  } catch (const FailureError&) {
    chosen.alternative.reset();
  }
  if (!chosen.alternative) chosen.next_alternative.reset();
}

// Collective.
Turn Team::judged(const Turn& due) {
  Tuner::Verdict verdict;
  const std::span<const Tuner::Samples> by_rank = team_memory_.gather(tuner_.samples(due));
  if (rank_ == 0) verdict = tuner_.judge(due, by_rank);
  return tuner_.accept(due, team_memory_.gather(verdict).front());
}

void Team::end_turn(const Turn& turn, const Tuner::Sample& sample) {
  const bool is_outside = turn.by == Implementation::outside;
  tuner_.end(turn, sample, is_outside ? std::string_view() : latest_algorithm());
}

// Compares nothing, because a rank in the MPI may be many calls ahead.
void Team::note_outside_call(const CallArguments& arguments) {
  if (lost_.is_any()) throw context::PeerLost(lost_.text());
  call_records_.note(arguments);
}

}  // namespace huddle::team
