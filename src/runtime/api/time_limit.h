// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The time that a rank waits in a call for other ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "runtime/team/team.h"

namespace huddle::api {

// Not an Error, so that the team is abandoned: the other ranks then do not wait for this one.
class TimedOut : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Not thread-safe.
class TimeLimit {
 public:
  // Applies to all following calls of `team`. 0: no limit.
  // Requires: this object lives as long as the team.
  void set(team::Team& team, std::chrono::milliseconds limit);

  // Call at the beginning of each call. The time begins with the first check in the call, so that
  // a call that does not wait long does not read a clock.
  void begin_call() { ++calls_; }

 private:
  // Throws TimedOut. A waiting rank calls this several times a second.
  void check();

  using Clock = std::chrono::steady_clock;
  std::chrono::milliseconds limit_{0};
  std::uint64_t calls_ = 0;
  std::uint64_t checked_call_ = 0;
  Clock::time_point first_check_;
};

}  // namespace huddle::api
