// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/api/time_limit.h"

#include <fmt/format.h>

namespace huddle::api {

void TimeLimit::set(team::Team& team, std::chrono::milliseconds limit) {
  limit_ = limit;
  if (limit.count() == 0) {
    team.waiting().set_further_check(nullptr);
  } else {
    team.waiting().set_further_check([this] { check(); });
  }
}

void TimeLimit::check() {
  const Clock::time_point now = Clock::now();
  if (checked_call_ != calls_) {
    checked_call_ = calls_;
    first_check_ = now;
  }
  if (now - first_check_ < limit_) return;
  throw TimedOut(
      fmt::format("timed out: a rank of the team did not do its part of the call within {} ms",
                  limit_.count()));
}

}  // namespace huddle::api
