// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/search.h"

#include <utility>

#include "check/checker/digest.h"
#include "common/error.h"

namespace huddle::verify::checker {
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

}  // namespace huddle::verify::checker
