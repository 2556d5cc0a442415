// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who decides what happens next in an execution: a search, chance, or what was decided before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace huddle::verify::checker {

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

}  // namespace huddle::verify::checker
