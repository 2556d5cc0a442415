// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/distance.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <numeric>

namespace huddle::schedules {
namespace {

struct Sum {
  std::int64_t distance = 0;
  std::int64_t messages = 0;
};

Sum sum_of(const Schedule& schedule, std::int64_t number, Round& round) {
  Sum sum;
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    schedule.make(rank, number, round);
    for (const Message& send : round.sends) sum.distance += std::abs(send.peer - rank);
    sum.messages += static_cast<std::int64_t>(round.sends.size());
  }
  return sum;
}

std::int64_t floor_log2(std::int64_t number) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(number))) - 1;
}
std::int64_t ceil_log2(std::int64_t number) { return floor_log2(number - 1) + 1; }

Fraction ring_form(std::int64_t ranks) { return {2 * ranks - 2, ranks}; }

Fraction neighbor_form(std::int64_t ranks) {
  const std::int64_t even = ranks / 2 * 2;
  const bool by_four = even % 4 == 0;
  if (ranks % 2 != 0) {
    // Includes the two messages of the last rank.
    return {2 * (by_four ? 2 + even * (even - 1) : even * even - 2 * even + 4), 4 + even * even};
  }
  if (by_four) return ring_form(ranks);
  return {2 * ranks * ranks - 4 * ranks + 4, ranks * ranks};
}

// Requires: `ranks` is a power of two.
Fraction doubling_form(std::int64_t ranks) { return {ranks - 1, floor_log2(ranks)}; }

// In round k, 2^k ranks send across the end of the rank order.
Fraction bruck_form(std::int64_t ranks, std::int64_t terms) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < terms; ++k) {
    const std::int64_t distance = std::int64_t{1} << k;
    sum += 2 * distance * (ranks - distance);
  }
  return {sum, ranks * ceil_log2(ranks)};
}

bool is_binary_bruck(const Algorithm& algorithm, const Call& call) {
  return algorithm.full_name() == "allgather:bruck" && call.radix == 2;
}

}  // namespace

Fraction::Fraction(std::int64_t numerator, std::int64_t denominator)
    : numerator_(numerator / std::gcd(numerator, denominator)),
      denominator_(denominator / std::gcd(numerator, denominator)) {}

std::string Fraction::text() const {
  return denominator_ == 1 ? fmt::format("{}", numerator_)
                           : fmt::format("{}/{}", numerator_, denominator_);
}

std::optional<Fraction> counted_distance(const Schedule& schedule) {
  Round round;
  std::map<std::int64_t, Sum> sums;  // by distinct round
  Sum all;
  for (std::int64_t number = 0; number < schedule.rounds(); ++number) {
    const std::int64_t like = schedule.peers_like(number);
    const auto known = sums.find(like);
    const Sum sum = known != sums.end() ? known->second : sum_of(schedule, like, round);
    sums.emplace(like, sum);
    all.distance += sum.distance;
    all.messages += sum.messages;
  }
  if (all.messages == 0) return std::nullopt;
  return Fraction(all.distance, all.messages);
}

std::optional<Fraction> closed_distance(const Algorithm& algorithm, const Call& call) {
  const std::int64_t ranks = call.ranks;
  if (ranks < 2 || algorithm.operation != Operation::allgather) return std::nullopt;
  if (algorithm.name == "ring") return ring_form(ranks);
  if (algorithm.name == "neighbor") return neighbor_form(ranks);
  if (algorithm.name == "doubling" && std::has_single_bit(static_cast<std::uint64_t>(ranks))) {
    return doubling_form(ranks);
  }
  if (is_binary_bruck(algorithm, call)) return bruck_form(ranks, ceil_log2(ranks));
  return std::nullopt;
}

std::optional<Fraction> printed_distance(const Algorithm& algorithm, const Call& call) {
  if (call.ranks < 2 || !is_binary_bruck(algorithm, call)) return std::nullopt;
  return bruck_form(call.ranks, ceil_log2(call.ranks) + 1);
}

}  // namespace huddle::schedules
