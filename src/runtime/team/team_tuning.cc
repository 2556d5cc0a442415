// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The part of a team that lets measured times decide which algorithm runs a call: see tuner.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/floating_point.h"
#include "runtime/context/errors.h"
#include "runtime/select/candidate.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/team.h"
#include "runtime/team/tuning_history.h"

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
  Alternatives mine;
  if (rank_ == 0) {
    if (!chosen.listed) chosen.listed = listed_alternatives(chosen, request);
    mine =
        alternatives_of(turn_.alternatives, chosen.listed, recalled_, chosen.choice.usual.plan());
  }
  chosen.alternatives = team_memory_.gather(mine).front();
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
    std::uint32_t own = 0;
    if (rank_ == 0) {
      const DefaultFloatingPoint floating_point;
      own = tuner_.calls_that_justify(turn_, engine_.set_up_ns(plan), alternative->predicted_ns);
    }
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
  if (rank_ == 0) {
    const DefaultFloatingPoint floating_point;
    verdict = tuner_.judge(due, by_rank);
  }
  const Turn next = tuner_.accept(due, team_memory_.gather(verdict).front());
  const std::optional<Tuner::Result>& result = tuner_.latest_result();
  const bool has_result = verdict.next != Tuner::Next::round;
  if (rank_ == 0 && has_result && result && result->record.median_ns > 0)
    tuning_history_.note(selection_inputs_->locality().pus, result->of, result->record);
  return next;
}

// Collective. Continues with the result of an earlier team of these ranks, or of an earlier run.
Turn Team::recalled(const TunedCall& call) {
  Tuner::Recalled mine;
  if (rank_ == 0) mine = known_about(Tuner::class_of(call));
  return tuner_.recall(call, team_memory_.gather(mine).front());
}

// Must not fail, because rank 0 alone would.
Tuner::Recalled Team::known_about(const TunedClass& tuned_class) noexcept {
  const std::span<const int> cpus = selection_inputs_->locality().pus;
  const auto record = tuning_history_.find(cpus, tuned_class);
  Tuner::Recalled recalled;
  if (!record || (!record->is_settled && record->kept != Implementation::alternative)) {
    const auto plan = tuning_history_.suggestion(cpus, tuned_class);
    const auto number = plan ? recalled_number(*plan) : std::nullopt;
    recalled.has_suggestion = number.has_value();
    recalled.number = number.value_or(first_recalled_number);
    if (!record) return recalled;
  }
  recalled.is_known = true;
  recalled.is_settled = record->is_settled;
  recalled.kept = record->kept;
  recalled.next_alternative = record->next_alternative;
  recalled.confirmations = record->confirmations;
  recalled.calls_until_next = record->calls_until_next;
  if (record->kept != Implementation::alternative) return recalled;
  const auto number = recalled_number(record->plan);
  if (!number) return {};
  recalled.number = *number;
  return recalled;
}

// Returns nothing if memory or the numbers are exhausted.
std::optional<std::uint16_t> Team::recalled_number(const select::PlanFeatures& plan) noexcept {
  constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max() - first_recalled_number;
  const auto known = std::find(recalled_.begin(), recalled_.end(), plan);
  const auto index = static_cast<std::size_t>(known - recalled_.begin());
  if (index > most) return std::nullopt;
  try {
    if (known == recalled_.end()) recalled_.push_back(plan);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
  return static_cast<std::uint16_t>(first_recalled_number + index);
}

void Team::note_tuning() noexcept {
  if (rank_ != 0) return;
  const std::span<const int> cpus = selection_inputs_->locality().pus;
  tuner_.visit_tried([&](const TunedClass& of, const Tuner::ClassProgress& progress) {
    tuning_history_.note_calls(cpus, of, progress);
  });
}

void Team::end_turn(const Turn& turn, Tuner::Sample sample) {
  sample.expected = last_expected_;
  const bool is_of_team = turn.by != Implementation::outside && last_run_ != nullptr;
  tuner_.end(turn, sample,
             is_of_team ? select::features_of(last_run_->plan()) : select::PlanFeatures());
}

// Compares nothing, because a rank in the MPI may be many calls ahead.
void Team::note_outside_call(const CallArguments& arguments) {
  if (lost_.is_any()) throw context::PeerLost(lost_.text());
  call_records_.note(arguments);
}

}  // namespace huddle::team
