// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Vector clocks: what a rank knows of what the others have done. Whatever it does not know when it
// touches the same bytes is a race.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/checker/digest.h"

namespace huddle::verify::checker {

// Counts what one agent has published; 0 is never.
using Time = std::uint32_t;

// Two agents a rank: the rank itself, and its non-temporal stores, which go their own way until a
// fence.
class Clock {
 public:
  Clock() = default;
  explicit Clock(int agents) : times_(static_cast<std::size_t>(agents), 0) {}

  Time at(int agent) const { return times_[static_cast<std::size_t>(agent)]; }
  bool knows(int agent, Time time) const { return at(agent) >= time; }
  void set(int agent, Time time) { times_[static_cast<std::size_t>(agent)] = time; }
  void clear() { std::fill(times_.begin(), times_.end(), 0); }
  // Knows afterwards what either knew. pre: the same agents.
  void join(const Clock& other) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      times_[i] = std::max(times_[i], other.times_[i]);
    }
  }
  std::uint64_t digest() const {
    std::uint64_t digest = 0;
    for (const Time time : times_) digest = mixed(digest, time);
    return digest;
  }

 private:
  std::vector<Time> times_;
};

}  // namespace huddle::verify::checker
