// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who decides what happens next in an execution: a search, chance, or what was decided before.
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
    run,      // this rank does its next operation
    let_go,   // a held store of this rank becomes visible
    at_once,  // the store that this rank does is visible at once
    hold,     // or stays in its buffer
    flag,     // of the flags that this rank waits for it sees that one
    copy,     // the path of this rank's pull or push works
    refuse,   // or fails
  };
  Kind kind = Kind::run;
  int rank = 0;
  std::size_t index = 0;
  // What it takes from the budget. The first alternative is free.
  int cost = 0;
};

class Chooser {
 public:
  static constexpr std::size_t stop = static_cast<std::size_t>(-1);

  virtual ~Chooser() = default;
  // A number that is equal where everything that can still happen is equal. Takes some time.
  using State = std::function<std::uint64_t()>;

  // The index of one, or `stop` when this execution is of no more interest.
  virtual std::size_t choose(std::span<const Alternative> alternatives, const State& state) = 0;
};

// Chooses by chance, each execution in a manner of its own: some change the turn often and some
// hardly ever, some let one rank run far ahead of the others.
class RandomWalk : public Chooser {
 public:
  RandomWalk(int ranks, std::uint64_t seed);

  std::size_t choose(std::span<const Alternative> alternatives, const State& state) override;

 private:
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::size_t any_free(std::span<const Alternative> alternatives);
  std::size_t foremost(std::span<const Alternative> alternatives);

  std::mt19937_64 random_;
  std::uint64_t calm_;  // one in so many choices is costly
  bool by_priority_;
  std::vector<std::uint64_t> priority_;  // of each rank
};

// Depth first through every choice within a budget, but never twice through the same state.
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

}  // namespace huddle::check::checker
