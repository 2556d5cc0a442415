// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/tuner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "common/arithmetic.h"

namespace huddle::team {
namespace {

// A trial that has not continued for this number of the team's calls makes room for another one.
constexpr std::uint64_t most_idle_calls = 1024;
// If all trials are in progress, a class tries again after this number of its calls.
constexpr std::uint32_t calls_until_retry = 8;

// A small call takes about as long as the transfer of this number of bytes. Times of calls whose
// sizes differ are compared after division by this size plus their own.
constexpr double bytes_of_small_call = 16.0 * KiB;

// A contender leaves a trial early if even its fastest call takes this many times as long as the
// typical call of the fastest one. Except for the present choice, the team's implementations find
// the cache lines of their queue where others have left them, so that they may be faster in a loop.
constexpr double hopeless_ratio = 2;
constexpr double hopeless_ratio_of_cold = 3;
// Two calls show that one contender is slower than another if they take this many times as long.
constexpr double clear_ratio = 1.3;
// A result replaces the previous one only if the gain is worth it and exceeds the noise, which
// means that the new contender's call is the faster one in most pairs of calls. If all are equally
// fast, this happens by chance in one of 200 trials.
constexpr double least_ratio = 0.97;
constexpr double least_faster_pairs = 0.85;
// The same before the last round, in which there are only two calls of each contender.
constexpr double least_ratio_of_few = 0.9;

// Predictions are rarely wrong by this factor, even if the machine has not been calibrated.
constexpr double usual_error = 4;
// If the team's choice takes this many times as long as predicted, another plan is probably faster.
constexpr double alarming_error = 2;
// A measured time is about this much too long, because of reading the clock, and because the ranks
// do not enter a call at the same time.
constexpr double clock_ns = 150;

// Assumed time in which the ranks combine the times of a round.
constexpr double verdict_ns = 5000;
// Assumed time in which the ranks agree on the next alternatives and set up what these need. The
// list of all alternatives is made only once.
constexpr double new_list_ns = 20'000;
// About the longest time that a contender runs calls in sequence in a trial, which programs that
// make few calls lose if the contender is slow.
constexpr double longest_block_ns = 200'000;
// The largest part of the time of the calls that trials may cost.
constexpr double most_cost = 0.01;
// The same for each later round of the first trial of a class. A benchmark that makes 1000 calls of
// 1 us should not become slower because huddle compares plans meanwhile.
constexpr double most_first_cost = 0.1;
// If the team's choice is not clearly faster than the implementation outside.
constexpr double most_first_cost_if_slow = 0.25;
// If it takes far longer than predicted, so that another plan is probably faster.
constexpr double most_first_cost_if_alarming = 1;
// If a trial has found a faster implementation, the prediction was wrong, and another one may be
// faster still. So part of the time that it saves may be spent on the next trial.
constexpr double reinvested_part = 0.25;
constexpr double most_calls_until_next = 1 << 30;
// After this number of trials most alternatives have taken part in one.
constexpr int usual_trials = 5;
// The gap doubles at most this number of times, because the state of the machine may change: a
// hypervisor may move the cores away from each other, or other data take the place in a cache.
constexpr std::uint8_t most_doublings = 4;
constexpr std::uint8_t most_confirmations = usual_trials + most_doublings;

// The contenders of a trial.
constexpr std::size_t chosen_contender = 0;
constexpr std::size_t first_alternative = 1;
constexpr std::size_t outside_contender = first_alternative + alternatives_at_once;

constexpr std::uint8_t bit_of(std::size_t contender) {
  return static_cast<std::uint8_t>(1U << contender);
}
constexpr bool has(std::uint8_t set, std::size_t contender) {
  return (set & bit_of(contender)) != 0;
}
constexpr void remove(std::uint8_t& set, std::size_t contender) {
  set &= static_cast<std::uint8_t>(~bit_of(contender));
}

constexpr void exchange(std::uint8_t& set, std::size_t a, std::size_t b) {
  if (has(set, a) == has(set, b)) return;
  set ^= static_cast<std::uint8_t>(bit_of(a) | bit_of(b));
}

constexpr Implementation implementation_of(std::size_t contender) {
  if (contender == chosen_contender) return Implementation::chosen;
  return contender == outside_contender ? Implementation::outside : Implementation::alternative;
}
// The contender that runs the calls outside trials.
constexpr std::size_t contender_of(Implementation kept) {
  switch (kept) {
    case Implementation::chosen:
      return chosen_contender;
    case Implementation::alternative:
      return first_alternative;
    case Implementation::outside:
      return outside_contender;
  }
  return chosen_contender;
}
constexpr std::size_t contender_of(const Turn& turn) {
  return turn.by == Implementation::alternative ? first_alternative + turn.which
                                                : contender_of(turn.by);
}

// A class contains the sizes above one power of two, up to the next one.
constexpr std::size_t octave_of(std::size_t bytes) {
  return (select::size_class_of(bytes) + select::classes_an_octave - 1) / select::classes_an_octave;
}
static_assert(octave_of(4096) == 12 && octave_of(4097) == 13);

constexpr unsigned operation_bits = 8;
constexpr unsigned octave_bits = 8;

// Not 0.
std::uint32_t key_of(const TunedCall& call) {
  const auto octave = static_cast<std::uint32_t>(octave_of(call.bytes / call.blocks));
  return 1U | (call.may_run_outside ? 2U : 0U) |
         static_cast<std::uint32_t>(call.operation) << octave_bits |
         octave << (octave_bits + operation_bits);
}
constexpr bool may_run_outside(std::uint32_t key) { return (key & 2U) != 0; }
constexpr select::Operation operation_of(std::uint32_t key) {
  return select::operations[key >> octave_bits & 0xffU];
}
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
  if (round < first_round_of_all) return set;
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
      if (trials_after_) one.round = first_round_of_all;
      one.first_cost = most_first_cost;
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
  if (call_class.round >= first_round_of_all && std::popcount(set) == 1) {
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
  const bool is_first_of_all = call_class.round == first_round_of_all && !call_class.is_settled;
  if (!call_class.has_recalled || (is_first_of_all && !call_class.has_suggestion)) {
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
    if (call_class.round < first_round_of_all) return step(call_class);
    call_class.has_suggestion = true;
    if (recalled.has_suggestion && call_class.kept != Implementation::alternative)
      call_class.put_first(recalled.number);
    const std::uint32_t calls = trials_after_.value_or(0);
    if (call_class.calls > calls) return step(call_class);
    call_class.next_trial = calls + 1;
    return kept_turn(call_class);
  }
  call_class.is_tried = true;
  call_class.is_settled = recalled.is_settled;
  call_class.round = first_round_of_all;
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

// If the contender was about to run its first call, the remaining ones share the calls of the
// round. Otherwise it keeps its turns, because times of this round have been noted.
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
  const double excess_ns = rounds[first_round_of_all].most_block_calls *
                           std::max(0.0, predicted_ns - usual_error * least_ns);
  const double calls = (set_up_ns + excess_ns) / most_cost / std::max(1.0, least_ns) -
                       static_cast<double>(trial.call_class->calls);
  return static_cast<std::uint32_t>(std::clamp(calls, 0.0, most_calls_until_next));
}

namespace {

// Returns the longest time of a rank without waiting, because a program waits for its slowest rank:
// the root of a gather, for example. Returns nothing if a rank has no time for the call.
std::optional<double> transfer_ns(select::Operation operation,
                                  std::span<const Tuner::Samples> by_rank, std::size_t number) {
  const auto times_of = [number](const Tuner::Samples& samples) {
    const Tuner::TimedCall& timed = samples[number];
    return select::CallTimes{timed.enter_ns, timed.enter_ns + static_cast<double>(timed.ns),
                             timed.is_root != 0};
  };
  select::EntryTimes entries;
  for (const Tuner::Samples& samples : by_rank) {
    if (samples[number].ns == 0) return std::nullopt;
    entries.add(times_of(samples));
  }
  double most_ns = 0;
  for (const Tuner::Samples& samples : by_rank) {
    const select::CallTimes own = times_of(samples);
    most_ns = std::max(most_ns, own.ns() - entries.waiting_ns(operation, own));
  }
  return most_ns;
}

double mean_bytes(std::span<const Tuner::Samples> by_rank, std::size_t number) {
  double bytes = 0;
  for (const Tuner::Samples& samples : by_rank) bytes += samples[number].bytes();
  return bytes / static_cast<double>(by_rank.size());
}

}  // namespace

// Allocates no memory, because rank 0 alone must not fail.
void Tuner::Costs::add(double ns, double weight) {
  const double cost = ns / weight;
  std::size_t place = count++;
  for (; place > 0 && in_order[place - 1] > cost; --place) in_order[place] = in_order[place - 1];
  in_order[place] = cost;
  weights += weight;
}

double Tuner::Costs::faster_pairs(const Costs& other) const {
  std::size_t faster = 0;
  for (std::size_t mine = 0; mine < count; ++mine) {
    for (std::size_t theirs = 0; theirs < other.count; ++theirs)
      faster += in_order[mine] < other.in_order[theirs] ? 1 : 0;
  }
  return static_cast<double>(faster) / static_cast<double>(count * other.count);
}

// Replaces the times of the contenders by those of this round: the shorter blocks of the round
// before may not have lasted until calls take as long as in a loop.
void Tuner::note_costs(Trial& trial, std::span<const Samples> by_rank) {
  const auto blocks = static_cast<std::size_t>(std::popcount(trial.remaining));
  const std::size_t block_samples = trial.block_samples();
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    if (!has(trial.remaining, contender)) continue;
    trial.costs[contender] = {};
    trial.calls_by[contender] =
        static_cast<std::uint16_t>(trial.calls_by[contender] + trial.block_calls);
  }
  for (std::size_t number = 0; number < blocks * block_samples; ++number) {
    const std::optional<double> ns =
        transfer_ns(operation_of(trial.call_class->key), by_rank, number);
    if (!ns) continue;
    trial.costs[trial.contender_of(number / block_samples)].add(
        *ns, mean_bytes(by_rank, number) + bytes_of_small_call);
  }
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    if (has(trial.left_out, contender)) trial.costs[contender] = {};
  }
}

namespace {

// Returns the contender of the set with the shortest time, or nothing if none has a time.
template <class Times>
std::optional<std::size_t> fastest_of(const Times& ns, std::uint8_t set) {
  std::optional<std::size_t> fastest;
  for (std::size_t contender = 0; contender < ns.size(); ++contender) {
    if (ns[contender] == 0 || !has(set, contender)) continue;
    if (!fastest || ns[contender] < ns[*fastest]) fastest = contender;
  }
  return fastest;
}

constexpr std::uint8_t all_alternatives = ((1U << alternatives_at_once) - 1U) << first_alternative;

}  // namespace

// Adds up what the rounds of a trial cost, and what its results save.
void Tuner::note_loss(Trial& trial, const Verdict& verdict) {
  Class& call_class = *trial.call_class;
  const double best_ns = verdict.median_ns[verdict.kept];
  double& lost_ns = call_class.lost_ns;
  lost_ns += verdict_ns;
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    const double excess_ns = verdict.median_ns[contender] - best_ns;
    lost_ns += trial.calls_by[contender] * std::max(0.0, excess_ns);
  }
  const std::size_t former = contender_of(call_class.kept);
  call_class.saved_ns += std::max(0.0, verdict.median_ns[former] - best_ns);
}

// The gap until the next trial is as long as it takes until the slower contenders have cost at most
// the permitted part of the time, and of what a new choice saves. Once most alternatives have had a
// trial, it doubles with each trial that confirms the result.
std::uint32_t Tuner::calls_until_next(const Trial& trial, const Verdict& verdict) {
  const double lost_ns = std::exchange(trial.call_class->lost_ns, 0) + new_list_ns;
  const double saved_ns = std::exchange(trial.call_class->saved_ns, 0);
  const double best_ns = verdict.median_ns[verdict.kept];
  const double calls = lost_ns / (most_cost * std::max(1.0, best_ns) + reinvested_part * saved_ns);
  const int doublings = std::max(0, trial.call_class->confirmations - usual_trials);
  return static_cast<std::uint32_t>(std::min(most_calls_until_next, std::ldexp(calls, doublings)));
}

namespace {

// Returns after how many calls of this time `lost_ns` is the given part of their time.
std::uint32_t calls_worth(double lost_ns, double part, double ns, std::uint64_t calls_so_far) {
  const double calls = lost_ns / (part * std::max(1.0, ns)) - static_cast<double>(calls_so_far);
  return static_cast<std::uint32_t>(std::clamp(calls, 0.0, most_calls_until_next));
}

}  // namespace

// Returns the number of further calls until the list of alternatives, and the round in which they
// take part for the first time, are worth their cost. The alternatives are assumed to take twice as
// long as the present choice. Judges by the shortest times, because one of two calls is often
// delayed.
std::uint32_t Tuner::calls_until_alternatives(Trial& trial, const Verdict& verdict) {
  Class& call_class = *trial.call_class;
  const double chosen_ns = trial.least_ns(chosen_contender);
  const double outside_ns = trial.least_ns(outside_contender);
  const auto& [expected_ns, search_ns] = trial.expected;
  const bool is_alarming = expected_ns > 0 && chosen_ns - clock_ns >= alarming_error * expected_ns;
  const bool is_fast = outside_ns == 0 || chosen_ns <= least_ratio_of_few * outside_ns;
  if (trial.round < first_round_of_all) {
    call_class.first_cost = is_alarming ? most_first_cost_if_alarming
                            : is_fast   ? most_first_cost
                                        : most_first_cost_if_slow;
  }
  const double kept_ns = trial.least_ns(verdict.kept);
  const int calls = rounds[first_round_of_all].least_block_calls;
  const double lost_ns =
      search_ns + verdict_ns + kept_ns * calls * static_cast<double>(alternatives_at_once);
  const std::uint64_t paid = trial.round < first_round_of_all ? call_class.calls : 0;
  return calls_worth(lost_ns, call_class.first_cost, kept_ns, paid);
}

std::uint32_t Tuner::calls_until_last_round(const Trial& trial, const Verdict& verdict) {
  const double best_ns = trial.least_ns(verdict.kept);
  double lost_ns = verdict_ns;
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    if (!has(verdict.remaining, contender)) continue;
    lost_ns += verdict.block_calls * std::max(0.0, trial.least_ns(contender) - best_ns);
  }
  return calls_worth(lost_ns, trial.call_class->first_cost, best_ns, 0);
}

// Returns the median times of the contenders, for a call of mean size.
std::array<double, Tuner::contenders> Tuner::Trial::medians_ns() const {
  std::array<double, contenders> medians{};
  const double weight = mean_weight();
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    if (costs[contender].count > 0) medians[contender] = costs[contender].median() * weight;
  }
  return medians;
}

// Returns the time of the contender's fastest call, for a call of mean size; 0 if it has no time.
double Tuner::Trial::least_ns(std::size_t contender) const {
  return costs[contender].in_order.front() * mean_weight();
}

double Tuner::Trial::mean_weight() const {
  double weight = 0;
  std::size_t count = 0;
  for (const Costs& one : costs) {
    weight += one.weights;
    count += one.count;
  }
  return count == 0 ? 0 : weight / static_cast<double>(count);
}

// Returns the contender of the set that is most likely slower than others, but not the present
// choice: the one outside if it is clearly not the fastest, because its times do not depend on the
// team's cache lines; otherwise the slowest one.
std::size_t Tuner::Trial::least_promising(std::uint8_t set, const Verdict& verdict,
                                          double fastest_ns) const {
  if (has(set, outside_contender) && verdict.kept != outside_contender &&
      least_ns(outside_contender) > clear_ratio * fastest_ns)
    return outside_contender;
  std::size_t slowest = verdict.kept;
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    if (!has(set, contender) || contender == verdict.kept) continue;
    const bool is_first = slowest == verdict.kept;
    if (is_first || verdict.median_ns[contender] > verdict.median_ns[slowest]) slowest = contender;
  }
  return slowest;
}

// Returns the contenders of the next round: those that may be as fast as one that takes fastest_ns.
// If there are too many, the least promising ones are missing.
std::uint8_t Tuner::Trial::next_contenders(const Verdict& verdict, double fastest_ns) const {
  std::uint8_t set = 0;
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    const Costs& own = costs[contender];
    if (own.count == 0 || !has(remaining, contender)) continue;
    const bool is_cold = contender != verdict.kept && contender != outside_contender;
    const double hopeless = is_cold ? hopeless_ratio_of_cold : hopeless_ratio;
    if (least_ns(contender) <= hopeless * fastest_ns) set |= bit_of(contender);
  }
  const std::size_t next_round = std::min<std::size_t>(round + 1U, last_round);
  while (std::popcount(set) > rounds[next_round].most_contenders)
    remove(set, least_promising(set, verdict, fastest_ns));
  return set;
}

std::uint8_t Tuner::Trial::next_block_calls(double fastest_ns) const {
  const Round& next = rounds[std::min<std::size_t>(round + 1U, last_round)];
  const double bytes = std::max(0.0, mean_weight() - bytes_of_small_call);
  const int longest = next.block_calls(static_cast<std::size_t>(bytes));
  const double most = std::min<double>(longest, longest_block_ns / std::max(1.0, fastest_ns));
  return static_cast<std::uint8_t>(std::max<double>(most, next.least_block_calls));
}

Tuner::Verdict Tuner::judge(const Turn& turn, std::span<const Samples> by_rank) {
  Trial& trial = trials_[turn.trial];
  note_costs(trial, by_rank);
  Verdict verdict{.kept = static_cast<std::uint8_t>(contender_of(trial.call_class->kept)),
                  .median_ns = trial.medians_ns()};
  // Contenders of earlier rounds had fewer calls, at another time.
  const auto fastest = fastest_of(verdict.median_ns, trial.remaining);
  if (!fastest) {
    // No call succeeded.
    verdict.next = Next::trial;
    verdict.calls_until_next = static_cast<std::uint32_t>(most_calls_until_next);
    return verdict;
  }
  const double fastest_ns = verdict.median_ns[*fastest];
  const double kept_ns = verdict.median_ns[verdict.kept];
  verdict.remaining = trial.next_contenders(verdict, fastest_ns);
  verdict.block_calls = trial.next_block_calls(fastest_ns);
  const bool is_last = trial.round == last_round;
  const bool is_faster =
      fastest_ns < (is_last ? least_ratio : least_ratio_of_few) * kept_ns &&
      trial.costs[*fastest].faster_pairs(trial.costs[verdict.kept]) >= least_faster_pairs;
  if (is_faster || !has(verdict.remaining, verdict.kept))
    verdict.kept = static_cast<std::uint8_t>(*fastest);
  const bool has_all = trial.round >= first_round_of_all;
  if (is_last || (has_all && std::popcount(verdict.remaining) <= 1)) {
    verdict.next = Next::trial;
    note_loss(trial, verdict);
    verdict.calls_until_next = calls_until_next(trial, verdict);
  } else if (!trials_after_ && !trial.call_class->is_settled) {
    verdict.next = Next::later_round;
    note_loss(trial, verdict);
    const std::uint32_t until_alternatives = calls_until_alternatives(trial, verdict);
    verdict.calls_until_next =
        has_all ? calls_until_last_round(trial, verdict) : until_alternatives;
    verdict.calls_until_repetition = std::max(verdict.calls_until_next, until_alternatives);
  }
  return verdict;
}

// Keeps the times of earlier rounds of this trial for contenders that did not take part since.
void Tuner::Trial::note_result(const Verdict& verdict) {
  const auto note = [&](std::size_t contender) {
    if (verdict.median_ns[contender] == 0) return;
    call_class->tried[static_cast<std::size_t>(implementation_of(contender))] = {
        verdict.median_ns[contender], plans[contender]};
  };
  note(chosen_contender);
  note(outside_contender);
  const bool keeps_alternative = implementation_of(verdict.kept) == Implementation::alternative;
  const auto alternative =
      fastest_of(verdict.median_ns, keeps_alternative ? bit_of(verdict.kept) : all_alternatives);
  if (alternative) note(*alternative);
}

Tuner::Result Tuner::Trial::result(const Verdict& verdict) const {
  return {.of = class_of_key(call_class->key),
          .record = {.kept = implementation_of(verdict.kept),
                     .is_settled = verdict.next == Next::trial,
                     .plan = plans[verdict.kept],
                     .median_ns = verdict.median_ns[verdict.kept]},
          .tried = call_class->tried};
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
    call_class.round = first_round_of_all;
    call_class.remaining = 0;
    call_class.tried = {};
    call_class.renew_alternatives(verdict.kept);
    // After a pause, an alternative that may take part again does so in the next trial.
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
