// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "check/checker/chooser.h"

#include <utility>

#include "check/checker/memory.h"
#include "common/error.h"

namespace huddle::check::checker {
namespace {

// The probability of a choice that may be costly is 1/2, 1/8 or 1/32 in an execution: most errors
// need few costly choices, but some need several close together.
constexpr std::uint64_t calmest_shift = 2;
// Average number of choices after which the foremost rank is moved behind the others.
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

namespace {

std::uint64_t digest_of(std::span<const Alternative> alternatives) {
  std::uint64_t digest = alternatives.size();
  for (const Alternative& alternative : alternatives) {
    digest = mixed(digest, static_cast<std::uint64_t>(alternative.kind));
    digest = mixed(digest, static_cast<std::uint64_t>(alternative.rank));
    digest = mixed(digest, alternative.index);
  }
  return digest;
}

}  // namespace

std::size_t Search::choose(std::span<const Alternative> alternatives, const State& state) {
  if (depth_ < path_.size()) {
    const Node& node = path_[depth_++];
    if (node.offered != digest_of(alternatives)) {
      throw UsageError("the body of a checked job has to do the same whenever it sees the same");
    }
    return node.taken;
  }
  Node node;
  node.offered = digest_of(alternatives);
  node.budget = budget_;
  if (!path_.empty()) {
    const Node& last = path_.back();
    node.budget = last.budget - (last.costly[last.taken] ? 1 : 0);
  }
  const auto [seen, is_new] = budget_at_.try_emplace(state(), node.budget);
  if (!is_new && seen->second >= node.budget) return stop;
  seen->second = node.budget;
  for (const Alternative& alternative : alternatives) node.costly.push_back(alternative.cost > 0);
  path_.push_back(std::move(node));
  ++depth_;
  return 0;
}

bool Search::can_afford(const Node& node, std::size_t alternative) {
  if (!node.costly[alternative] || node.budget > 0) return true;
  ran_short_ = true;
  return false;
}

bool Search::next() {
  depth_ = 0;
  while (!path_.empty()) {
    Node& node = path_.back();
    do {
      ++node.taken;
    } while (node.taken < node.costly.size() && !can_afford(node, node.taken));
    if (node.taken < node.costly.size()) return true;
    path_.pop_back();
  }
  return false;
}

}  // namespace huddle::check::checker
