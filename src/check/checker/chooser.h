// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Choosers decide what happens next in an execution: by search, at random, or by replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

namespace huddle::check::checker {

struct Alternative {
  enum class Kind : std::uint8_t {
    run,      // the rank executes its next operation
    let_go,   // a held store of the rank becomes visible
    at_once,  // the rank's current store becomes visible immediately
    hold,     // the rank's current store stays in its buffer
    flag,     // the rank, which waits for several flags, sees this one
    copy,     // the rank's pull or push succeeds
    refuse,   // the rank's pull or push fails
  };
  Kind kind = Kind::run;
  int rank = 0;
  std::size_t index = 0;
  // Charged to the budget. The first alternative is free.
  int cost = 0;
};

class Chooser {
 public:
  static constexpr std::size_t stop = static_cast<std::size_t>(-1);

  virtual ~Chooser() = default;
  // Returns a digest that is equal for states with the same continuations. Expensive to call.
  using State = std::function<std::uint64_t()>;

  // Returns the index of an alternative, or `stop` if this execution is not worth continuing.
  virtual std::size_t choose(std::span<const Alternative> alternatives, const State& state) = 0;
};

// Chooses at random, with a different style in each execution: some switch ranks often and some
// rarely, some let one rank run far ahead of the others.
class RandomWalk : public Chooser {
 public:
  RandomWalk(int ranks, std::uint64_t seed);

  std::size_t choose(std::span<const Alternative> alternatives, const State& state) override;

 private:
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::size_t any_free(std::span<const Alternative> alternatives);
  std::size_t foremost(std::span<const Alternative> alternatives);

  std::mt19937_64 random_;
  std::uint64_t calm_;  // one in calm_ choices may be costly
  bool by_priority_;
  std::vector<std::uint64_t> priority_;  // by rank
};

// Depth-first search through all choices within a budget. Does not continue from a state that it
// has already visited with the same or a larger remaining budget.
class Search : public Chooser {
 public:
  explicit Search(int budget) : budget_(budget) {}

  std::size_t choose(std::span<const Alternative> alternatives, const State& state) override;
  // Backtracks to the last choice that has another alternative. Returns false if there is none.
  bool next();

  // Returns whether a larger budget would have allowed more choices.
  bool ran_short() const { return ran_short_; }
  std::size_t states() const { return budget_at_.size(); }

 private:
  struct Node {
    std::size_t taken = 0;
    int budget = 0;             // remaining at this node
    std::vector<bool> costly;   // by alternative
    std::uint64_t offered = 0;  // digest of the alternatives
  };

  bool can_afford(const Node& node, std::size_t alternative);

  int budget_;
  bool ran_short_ = false;
  std::vector<Node> path_;
  std::size_t depth_ = 0;  // nodes of path_ that this execution has passed
  // Largest remaining budget with which a state was visited, by digest of the state.
  std::unordered_map<std::uint64_t, int> budget_at_;
};

}  // namespace huddle::check::checker
