// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/random_walk.h"

namespace huddle::verify::checker {
namespace {

// 1/2, 1/8, 1/32: errors need few costly choices, but some need them close together.
constexpr std::uint64_t calmest_shift = 2;
// A rank that has run ahead this many choices on average falls behind all others.
constexpr std::uint64_t choices_ahead = 24;
constexpr std::uint64_t highest_priority = std::uint64_t{1} << 32U;

}  // namespace

RandomWalk::RandomWalk(int ranks, std::uint64_t seed)
    : random_(seed),
      calm_(std::uint64_t{2} << (2 * (random_() % (calmest_shift + 1)))),
      by_priority_(one_in(2)) {
  for (int rank = 0; rank < ranks; ++rank) {
    priority_.push_back(highest_priority + random_() % highest_priority);
  }
}

std::size_t RandomWalk::choose(std::span<const Alternative> alternatives, const State&) {
  if (by_priority_ && alternatives.front().kind == Alternative::Kind::run) {
    return foremost(alternatives);
  }
  return one_in(calm_) ? random_() % alternatives.size() : any_free(alternatives);
}

std::size_t RandomWalk::any_free(std::span<const Alternative> alternatives) {
  std::size_t chosen = 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (alternatives[i].cost == 0 && one_in(++count)) chosen = i;
  }
  return chosen;
}

std::size_t RandomWalk::foremost(std::span<const Alternative> alternatives) {
  std::size_t chosen = 0;
  std::uint64_t highest = 0;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (alternatives[i].kind == Alternative::Kind::let_go) {
      if (one_in(calm_)) return i;
      continue;
    }
    const std::uint64_t priority = priority_[static_cast<std::size_t>(alternatives[i].rank)];
    if (priority <= highest) continue;
    highest = priority;
    chosen = i;
  }
  if (one_in(choices_ahead)) {
    const auto rank = static_cast<std::size_t>(alternatives[chosen].rank);
    priority_[rank] = 1 + random_() % highest_priority;
  }
  return chosen;
}

}  // namespace huddle::verify::checker
