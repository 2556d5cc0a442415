// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Describes the contenders of a trial as numbers and sets of bits, and limits the cost of trials.
// Only tuner.cc and tuner_verdict.cc include this file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/select/operation.h"
#include "runtime/team/tuner.h"

namespace huddle::team {

// The contenders of a trial.
inline constexpr std::size_t chosen_contender = 0;
inline constexpr std::size_t first_alternative = 1;
inline constexpr std::size_t outside_contender = first_alternative + alternatives_at_once;

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

// The parts of a class's key (see Tuner::Class).
inline constexpr unsigned operation_bits = 8;
inline constexpr unsigned octave_bits = 8;
constexpr select::Operation operation_of(std::uint32_t key) {
  return select::operations[key >> octave_bits & 0xffU];
}

// The largest part of the time of the calls that a trial may cost, except a class's first one.
inline constexpr double most_cost = 0.01;
// The same for each round of the first trial after its first round. A benchmark that makes 1000
// calls of 1 us should not become slower because huddle compares plans meanwhile.
inline constexpr double most_first_cost = 0.1;

inline constexpr double most_calls_until_next = 1 << 30;
// Returns after how many further calls of this time `lost_ns` is the given part of the time of all.
inline std::uint32_t calls_worth(double lost_ns, double part, double ns,
                                 std::uint64_t calls_so_far) {
  const double calls = lost_ns / (part * std::max(1.0, ns)) - static_cast<double>(calls_so_far);
  return static_cast<std::uint32_t>(std::clamp(calls, 0.0, most_calls_until_next));
}

// After this number of trials most alternatives have taken part in one.
inline constexpr int usual_trials = 5;
// The gap doubles at most this number of times, because the state of the machine may change: a
// hypervisor may move the cores away from each other, or other data take the place in a cache.
inline constexpr std::uint8_t most_doublings = 4;
inline constexpr std::uint8_t most_confirmations = usual_trials + most_doublings;

}  // namespace huddle::team
