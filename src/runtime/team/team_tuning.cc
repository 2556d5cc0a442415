// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The part of a team that lets measured times decide which algorithm runs a call: see tuner.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "runtime/context/errors.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/team.h"

namespace huddle::team {

// Collective until the alternative is set up. Returns the usual plan if there is no alternative
// with this number, if it is not set up yet, or if a rank lacks memory for it.
const BoundPlan& Team::alternative_to(Chosen& chosen, const select::Request& request) {
  if (!chosen.has_alternative(turn_)) find_alternatives(chosen, request);
  const std::optional<Alternative>& alternative = chosen.alternatives[turn_.which];
  const std::optional<BoundPlan>& bound = chosen.bound_alternatives[turn_.which];
  if (alternative && !bound) set_up_alternative(chosen);
  if (bound) return *bound;
  if (turn_.is_in_trial && !alternative) tuner_.leave_out_alternative(turn_);
  return chosen.choice.usual;
}

// The teams of a group share the lists, except those for larger elements than built-in ones, which
// are not classes of calls.
AlternativeList Team::listed_alternatives(const Chosen& chosen, const select::Request& request) {
  const bool is_shared = !unusual_ || &chosen != &*unusual_;
  const CallClass call_class{request.operation, request.bytes, request.root_moved};
  AlternativeBook& book = selection_inputs_->group()->alternatives();
  if (is_shared) {
    if (AlternativeList known = book.find(call_class)) return known;
  }
  AlternativeList made = list_alternatives(chosen.choice.usual.plan(), request, *selection_inputs_);
  if (is_shared && made) book.add(call_class, made);
  return made;
}

// Collective. Keeps the protocol of an alternative that is already set up.
void Team::find_alternatives(Chosen& chosen, const select::Request& request) {
  last_run_ = nullptr;  // may be one of the present alternatives
  auto bound = std::exchange(chosen.bound_alternatives, {});
  const auto numbers = std::exchange(chosen.alternative_numbers, turn_.alternatives);
  if (rank_ == 0 && !chosen.listed) chosen.listed = listed_alternatives(chosen, request);
  chosen.alternatives = agreed_alternatives(team_memory_, chosen.listed, turn_.alternatives);
  if (!numbers) return;
  for (std::size_t which = 0; which < alternatives_at_once; ++which) {
    const auto former = std::find(numbers->begin(), numbers->end(), turn_.alternatives[which]);
    if (former != numbers->end() && chosen.alternatives[which])
      chosen.bound_alternatives[which] = bound[static_cast<std::size_t>(former - numbers->begin())];
  }
}

// Collective. Postpones the set-up if the class's calls have not taken much longer than it would.
void Team::set_up_alternative(Chosen& chosen) {
  std::optional<Alternative>& alternative = chosen.alternatives[turn_.which];
  const select::Plan& plan = alternative->plan;
  if (turn_.is_in_trial) {
    const std::uint32_t own = rank_ == 0 ? tuner_.calls_that_justify(turn_, engine_.set_up_ns(plan),
                                                                     alternative->predicted_ns)
                                         : 0;
    const std::uint32_t calls = team_memory_.gather(own).front();
    if (calls > 0) return tuner_.postpone_alternative(turn_, calls);
  }
  std::optional<BoundPlan>& bound = chosen.bound_alternatives[turn_.which];
  try {
    if (may_run(plan, false)) bound = engine_.bound(plan);
  } catch (const FailureError&) {
    bound.reset();
  }
  if (!bound) alternative.reset();
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
