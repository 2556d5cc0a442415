// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/tuner.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "runtime/team/tuner_contenders.h"

namespace huddle::team {
namespace {

// A trial that has not continued for this number of the team's calls makes room for another one.
constexpr std::uint64_t most_idle_calls = 1024;
// If all trials are in progress, a class tries again after this number of its calls.
constexpr std::uint32_t calls_until_retry = 8;

// Predictions are rarely wrong by this factor, even if the machine has not been calibrated.
constexpr double usual_error = 4;

// A class contains the sizes above one power of two, up to the next one.
constexpr std::size_t octave_of(std::size_t bytes) {
  return (select::size_class_of(bytes) + select::classes_an_octave - 1) / select::classes_an_octave;
}
static_assert(octave_of(4096) == 12 && octave_of(4097) == 13);

// Not 0.
std::uint32_t key_of(const TunedCall& call) {
  const auto octave = static_cast<std::uint32_t>(octave_of(call.bytes / call.blocks));
  return 1U | (call.may_run_outside ? 2U : 0U) |
         static_cast<std::uint32_t>(call.operation) << octave_bits |
         octave << (octave_bits + operation_bits);
}
constexpr bool may_run_outside(std::uint32_t key) { return (key & 2U) != 0; }
constexpr std::size_t most_bytes_of(std::uint32_t key) {
  const std::size_t octave = key >> (octave_bits + operation_bits);
  return std::size_t{1} << octave;
}

}  // namespace

TunedClass Tuner::class_of_key(std::uint32_t key) {
  return {operation_of(key), most_bytes_of(key), huddle::team::may_run_outside(key)};
}

TunedClass Tuner::class_of(const TunedCall& call) { return class_of_key(key_of(call)); }

Turn Tuner::begin(const TunedCall& call) {
  Turn turn;
  if (begin_kept(call, turn)) return turn;
  Class& known = *find(call);
  ++calls_;
  ++known.calls;
  return step(known);
}

bool Tuner::begin_kept(const TunedCall& call, Turn& turn) {
  Class* const known = find(call);
  if (known == nullptr) {
    turn = {};
    return true;
  }
  if (known->trial != no_trial || known->calls + 1 >= known->next_trial) return false;
  ++calls_;
  ++known->calls;
  turn = kept_turn(*known);
  return true;
}

Tuner::Class* Tuner::find(const TunedCall& call) {
  if (excluded_.test(static_cast<std::size_t>(call.operation))) return nullptr;
  Class* const found = find_key(key_of(call));
  latest_[static_cast<std::size_t>(call.operation)] = {found, call.bytes, call.may_run_outside};
  return found;
}

std::uint8_t Tuner::Class::contenders() const {
  if (round == last_round) return remaining;
  std::uint8_t set = remaining;
  if (set == 0) {
    set = bit_of(chosen_contender);
    if (may_run_outside(key)) set |= bit_of(outside_contender);
  }
  if (round < first_full_round) return set;
  for (std::size_t which = 0; which < alternatives_at_once; ++which) {
    if (!has(postponed, which)) set |= bit_of(first_alternative + which);
  }
  return set;
}

// Returns null if the class is new and there is no room for it.
Tuner::Class* Tuner::find_key(std::uint32_t key) {
  constexpr std::uint32_t spread = 0x9e3779b1U;
  std::size_t at = (key * spread >> 16U) % most_classes;
  for (std::size_t tried = 0; tried < most_classes; ++tried, at = (at + 1) % most_classes) {
    Class& one = classes_[at];
    if (one.key == 0) {
      one.key = key;
      one.next_trial = std::min(trials_after_.value_or(calls_before_trial), calls_before_trial) + 1;
      if (trials_after_) one.round = first_full_round;
      one.permitted_part = most_first_cost;
    }
    if (one.key == key) return &one;
  }
  return nullptr;
}

Tuner::Trial* Tuner::free_trial() {
  Trial* oldest = &trials_.front();
  for (Trial& trial : trials_) {
    if (trial.call_class == nullptr) return &trial;
    if (trial.latest_call < oldest->latest_call) oldest = &trial;
  }
  if (calls_ - oldest->latest_call < most_idle_calls) return nullptr;
  Class& interrupted = *oldest->call_class;
  interrupted.trial = no_trial;
  interrupted.is_interrupted = true;
  interrupted.next_trial =
      interrupted.calls + std::max(calls_until_retry, oldest->calls_after_interruption());
  if (interrupted.postponed != 0 && interrupted.round != last_round)
    interrupted.next_trial = std::min(interrupted.next_trial, interrupted.postponed_until);
  return oldest;
}

// Returns false if no trial can start now.
bool Tuner::start_trial(Class& call_class) {
  const bool is_last = call_class.round == last_round;
  if (!is_last && call_class.calls >= call_class.postponed_until) call_class.postponed = 0;
  const std::uint8_t set = call_class.contenders();
  if (call_class.round >= first_full_round && std::popcount(set) == 1) {
    call_class.kept = implementation_of(static_cast<std::size_t>(std::countr_zero(set)));
    call_class.next_trial = call_class.postponed_until;
    return false;
  }
  Trial* const trial = free_trial();
  if (trial == nullptr) {
    call_class.next_trial = call_class.calls + calls_until_retry;
    return false;
  }
  *trial = {};
  trial->call_class = &call_class;
  trial->remaining = set;
  trial->round = call_class.round;
  if (is_last) trial->block_calls = call_class.block_calls;
  call_class.trial = static_cast<std::uint8_t>(trial - trials_.data());
  return true;
}

// Returns the contender that runs a block of this round. The present choice is the first one, so
// that its times are those of calls in a loop even in short blocks, and because programs that make
// few calls may end during the last round.
std::size_t Tuner::Trial::contender_of(std::size_t block) const {
  const std::size_t present = huddle::team::contender_of(call_class->kept);
  std::array<std::size_t, contenders> listed{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < contenders; ++i) {
    const std::size_t contender = (present + i) % contenders;
    if (has(remaining, contender)) listed[count++] = contender;
  }
  return count == 0 ? chosen_contender : listed[block % count];
}

Turn Tuner::step(Class& call_class) {
  const bool is_first_full_round = call_class.round == first_full_round && !call_class.is_settled;
  if (!call_class.has_recalled || (is_first_full_round && !call_class.is_suggestion_recalled)) {
    Turn turn = kept_turn(call_class);
    turn.is_recall_due = true;
    return turn;
  }
  if (call_class.trial == no_trial && !start_trial(call_class)) return kept_turn(call_class);
  Trial& trial = trials_[call_class.trial];
  trial.latest_call = calls_;
  Turn turn = kept_turn(call_class);
  turn.is_in_trial = true;
  turn.trial = call_class.trial;
  const auto blocks = static_cast<std::size_t>(std::popcount(trial.remaining));
  if (trial.calls == trial.block_calls * blocks) {
    turn.is_verdict_due = true;
    return turn;
  }
  const std::size_t block = trial.calls / trial.block_calls;
  const std::size_t in_block = trial.calls % trial.block_calls;
  ++trial.calls;
  const std::size_t contender = trial.contender_of(block);
  if (contender != contender_of(call_class.kept)) ++trial.other_calls;
  turn.by = implementation_of(contender);
  if (turn.by == Implementation::alternative)
    turn.which = static_cast<std::uint8_t>(contender - first_alternative);
  const std::size_t untimed = trial.block_calls - trial.block_samples();
  turn.is_timed = in_block >= untimed;
  if (turn.is_timed) {
    turn.sample = static_cast<std::uint8_t>(block * trial.block_samples() + in_block - untimed);
  }
  return turn;
}

Turn Tuner::recall(const TunedCall& call, const Recalled& recalled) {
  Class& call_class = *find(call);
  const bool is_first = !std::exchange(call_class.has_recalled, true);
  // Otherwise a record of another class would change the bits of reductions.
  const bool is_allowed =
      recalled.kept != Implementation::outside || may_run_outside(call_class.key);
  if (!recalled.is_known || !is_allowed || (!is_first && !recalled.is_settled)) {
    if (call_class.round < first_full_round) return step(call_class);
    call_class.is_suggestion_recalled = true;
    if (recalled.has_suggestion && call_class.kept != Implementation::alternative)
      call_class.put_first(recalled.number);
    const std::uint32_t calls = trials_after_.value_or(0);
    if (call_class.calls > calls) return step(call_class);
    call_class.next_trial = calls + 1;
    return kept_turn(call_class);
  }
  call_class.is_tried = true;
  call_class.is_settled = recalled.is_settled;
  call_class.round = first_full_round;
  call_class.remaining = 0;
  call_class.kept = recalled.kept;
  call_class.confirmations = std::min(recalled.confirmations, most_confirmations);
  call_class.next_alternative = recalled.next_alternative;
  for (std::uint16_t& number : call_class.alternatives) number = call_class.take_number();
  if (recalled.kept == Implementation::alternative) call_class.put_first(recalled.number);
  call_class.next_trial = call_class.calls + recalled.calls_until_next;
  if (trials_after_ && !recalled.is_settled)
    call_class.next_trial = std::max<std::uint64_t>(call_class.calls, *trials_after_ + 1);
  return kept_turn(call_class);
}

void Tuner::end(const Turn& turn, const Sample& sample, const select::PlanFeatures& plan) {
  Trial& trial = trials_[turn.trial];
  TimedCall& timed = trial.samples[turn.sample];
  timed.enter_ns = sample.enter_ns;
  const double ns = sample.leave_ns > 0 ? std::max(1.0, sample.leave_ns - sample.enter_ns) : 0;
  constexpr std::uint64_t most_ns = (std::uint64_t{1} << 40U) - 1;
  timed.ns = ns < static_cast<double>(most_ns) ? static_cast<std::uint64_t>(ns) & most_ns : 0;
  constexpr std::size_t most_units = (std::size_t{1} << 23U) - 1;
  timed.units = std::min(sample.bytes / TimedCall::bytes_of_unit, most_units) & most_units;
  timed.is_root = sample.is_root ? 1 : 0;
  trial.plans[contender_of(turn)] = plan;
  if (turn.by == Implementation::chosen) trial.expected = sample.expected;
}

void Tuner::leave_out_alternative(const Turn& turn) {
  trials_[turn.trial].leave_out(contender_of(turn));
}

void Tuner::postpone_alternative(const Turn& turn, std::uint32_t calls) {
  Trial& trial = trials_[turn.trial];
  trial.leave_out(contender_of(turn));
  Class& call_class = *trial.call_class;
  const std::uint64_t until = call_class.calls + calls;
  const bool is_first = call_class.postponed == 0 || call_class.postponed_until <= call_class.calls;
  call_class.postponed_until = is_first ? until : std::min(call_class.postponed_until, until);
  call_class.postponed |= bit_of(turn.which);
}

// Removes the contender from the round if it was about to run its first call, so that the round
// becomes shorter. Otherwise it keeps its turns, and its times do not count.
void Tuner::Trial::leave_out(std::size_t contender) {
  left_out |= bit_of(contender);
  if (round == last_round || (calls - 1U) % block_calls != 0) return;
  remove(remaining, contender);
  --calls;
}

std::uint32_t Tuner::calls_that_justify(const Turn& turn, double set_up_ns,
                                        double predicted_ns) const {
  const Trial& trial = trials_[turn.trial];
  // Rank 0 may leave a call of the implementation outside long before the slowest rank.
  constexpr double unknown = std::numeric_limits<double>::max();
  double least_ns = unknown;
  double outside_ns = unknown;
  for (std::size_t i = 0; i < trial.samples.size(); ++i) {
    const auto ns = static_cast<double>(trial.samples[i].ns);
    if (ns == 0) continue;
    const bool is_outside = trial.contender_of(i / trial.block_samples()) == outside_contender;
    double& least = is_outside ? outside_ns : least_ns;
    least = std::min(least, ns);
  }
  if (least_ns == unknown) least_ns = outside_ns;
  const double excess_ns = rounds[first_full_round].most_block_calls *
                           std::max(0.0, predicted_ns - usual_error * least_ns);
  return calls_worth(set_up_ns + excess_ns, most_cost, least_ns, trial.call_class->calls);
}

Turn Tuner::accept(const Turn& turn, const Verdict& verdict) {
  Trial& trial = trials_[turn.trial];
  Class& call_class = *trial.call_class;
  if (verdict.next == Next::round) {
    trial.remaining = verdict.remaining;
    trial.block_calls = verdict.block_calls;
    ++trial.round;
    trial.calls = 0;
    trial.samples = {};
    return step(call_class);
  }
  trial.note_result(verdict);
  Result result = trial.result(verdict);
  const bool has_pauses = !trials_after_ && !call_class.is_settled;
  const bool is_confirmed = call_class.is_settled && contender_of(call_class.kept) == verdict.kept;
  call_class.is_tried = true;
  call_class.is_interrupted = false;
  call_class.next_trial = call_class.calls + verdict.calls_until_next;
  if (verdict.next == Next::later_round) {
    call_class.round = trial.round + 1U;
    call_class.remaining = verdict.remaining;
    call_class.block_calls = verdict.block_calls;
  } else {
    if (!is_confirmed) {
      call_class.confirmations = 0;
    } else if (call_class.postponed == 0 && call_class.confirmations < most_confirmations) {
      ++call_class.confirmations;
    }
    call_class.is_settled = true;
    call_class.round = first_full_round;
    call_class.remaining = 0;
    call_class.tried = {};
    call_class.renew_alternatives(verdict.kept);
    // If the alternative may take part again since a pause of this trial, the next one is not
    // brought forward for it.
    const bool is_due = has_pauses && call_class.postponed_until <= call_class.calls;
    if (call_class.postponed != 0 && !is_due)
      call_class.next_trial = std::min(call_class.next_trial, call_class.postponed_until);
  }
  call_class.keep(verdict.kept);
  call_class.trial = no_trial;
  trial.call_class = nullptr;
  result.record.calls_until_next =
      std::max(call_class.calls_left(), verdict.calls_until_repetition);
  result.record.next_alternative = call_class.next_untried();
  result.record.confirmations = call_class.confirmations;
  result_ = result;
  return kept_turn(call_class);
}

// The last one of the others takes part in the next trial instead.
void Tuner::Class::put_first(std::uint16_t number) {
  std::move_backward(alternatives.begin(), alternatives.end() - 1, alternatives.end());
  alternatives.front() = number;
  --next_alternative;
}

// Replaces the alternatives that have lost.
void Tuner::Class::renew_alternatives(std::size_t kept_contender) {
  for (std::size_t which = 0; which < alternatives_at_once; ++which) {
    const bool is_kept = first_alternative + which == kept_contender;
    if (!is_kept && !has(postponed, which)) alternatives[which] = take_number();
  }
}

// Lets the contender run the calls. If it is an alternative, it moves to the first place.
void Tuner::Class::keep(std::size_t contender) {
  kept = implementation_of(contender);
  if (kept != Implementation::alternative) return;
  const std::size_t which = contender - first_alternative;
  std::swap(alternatives.front(), alternatives[which]);
  exchange(postponed, 0, which);
  exchange(remaining, first_alternative, contender);
}

std::uint16_t Tuner::Class::take_number() {
  if (next_alternative >= first_recalled_number) next_alternative = 0;
  return next_alternative++;
}

// Returns the lowest number of the alternatives that take part in the next trial and do not run the
// calls at present.
std::uint16_t Tuner::Class::next_untried() const {
  std::uint16_t lowest = next_alternative;
  for (std::size_t which = 0; which < alternatives_at_once; ++which) {
    const bool is_kept = which == 0 && kept == Implementation::alternative;
    if (!is_kept) lowest = std::min(lowest, alternatives[which]);
  }
  return lowest;
}

std::optional<Tuner::Result> Tuner::take_result() { return std::exchange(result_, std::nullopt); }

}  // namespace huddle::team
