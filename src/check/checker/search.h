// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Depth first through every choice within a budget, but never twice through the same state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "check/checker/chooser.h"

namespace huddle::verify::checker {

class Search : public Chooser {
 public:
  explicit Search(int budget) : budget_(budget) {}

  std::size_t choose(std::span<const Alternative> alternatives, const State& state) override;
  // Goes back to the last choice that had another alternative; false when there is none.
  bool next();

  // Whether a bigger budget would have allowed more.
  bool ran_short() const { return ran_short_; }
  std::size_t states() const { return budget_at_.size(); }

 private:
  struct Node {
    std::size_t taken = 0;
    int budget = 0;             // that is left here
    std::vector<bool> costly;   // of each alternative
    std::uint64_t offered = 0;  // a digest of the alternatives
  };

  bool can_afford(const Node& node, std::size_t alternative);

  int budget_;
  bool ran_short_ = false;
  std::vector<Node> path_;
  std::size_t depth_ = 0;  // nodes of path_ that this execution has passed
  // The most that was left when a state was seen.
  std::unordered_map<std::uint64_t, int> budget_at_;
};

}  // namespace huddle::verify::checker
