// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The results of the rounds of a trial. Rank 0 determines them, and all ranks note them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "common/arithmetic.h"
#include "runtime/select/call_times.h"
#include "runtime/team/tuner.h"
#include "runtime/team/tuner_contenders.h"

namespace huddle::team {
namespace {

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
// Instead of most_first_cost, if the team's choice is not clearly faster than the implementation
// outside.
constexpr double most_first_cost_if_slow = 0.25;
// The same if it takes far longer than predicted, so that another plan is probably faster.
constexpr double most_first_cost_if_alarming = 1;

// If a trial has found a faster implementation, the prediction was wrong, and another one may be
// faster still. So part of the time that it saves may be spent on the next trial.
constexpr double reinvested_part = 0.25;

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

// Returns the number of calls until the next trial: after them, the time lost since the last trial
// is at most one percent of their time plus a quarter of what the new choice has saved. If most
// alternatives have had a trial, the number doubles with each trial that confirms the result.
std::uint32_t Tuner::calls_until_next(const Trial& trial, const Verdict& verdict) {
  const double lost_ns = std::exchange(trial.call_class->lost_ns, 0) + new_list_ns;
  const double saved_ns = std::exchange(trial.call_class->saved_ns, 0);
  const double best_ns = verdict.median_ns[verdict.kept];
  const double calls = lost_ns / (most_cost * std::max(1.0, best_ns) + reinvested_part * saved_ns);
  const bool is_confirmed = contender_of(trial.call_class->kept) == verdict.kept;
  const int doublings =
      is_confirmed ? std::max(0, trial.call_class->confirmations - usual_trials) : 0;
  return static_cast<std::uint32_t>(std::min(most_calls_until_next, std::ldexp(calls, doublings)));
}

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
  if (trial.round < first_full_round) {
    call_class.permitted_part = is_alarming ? most_first_cost_if_alarming
                                : is_fast   ? most_first_cost
                                            : most_first_cost_if_slow;
  }
  const double kept_ns = trial.least_ns(verdict.kept);
  const int calls = rounds[first_full_round].least_block_calls;
  const double lost_ns =
      search_ns + verdict_ns + kept_ns * calls * static_cast<double>(alternatives_at_once);
  const std::uint64_t paid = trial.round < first_full_round ? call_class.calls : 0;
  return calls_worth(lost_ns, call_class.permitted_part, kept_ns, paid);
}

std::uint32_t Tuner::calls_until_last_round(const Trial& trial, const Verdict& verdict) {
  const double best_ns = trial.least_ns(verdict.kept);
  double lost_ns = verdict_ns;
  for (std::size_t contender = 0; contender < contenders; ++contender) {
    if (!has(verdict.remaining, contender)) continue;
    lost_ns += verdict.block_calls * std::max(0.0, trial.least_ns(contender) - best_ns);
  }
  return calls_worth(lost_ns, trial.call_class->permitted_part, best_ns, 0);
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
  const bool has_all = trial.round >= first_full_round;
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

}  // namespace huddle::team
