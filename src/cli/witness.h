// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who is told what a watched program does.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "threads/agent.h"
#include "threads/touch_stream.h"

namespace huddle::cli {

// Keeps what was seen, and asks the agent as it goes.
class Witness : public threads::Listener {
 public:
  explicit Witness(threads::Agent& agent) : agent_(agent) {}

  void take(const threads::Touch& touch) override {
    agent_.take(touch);
    events_.emplace_back(touch);
  }
  Wish take(const threads::Look& look) override {
    events_.emplace_back(look);
    if (std::optional<threads::Decision> decision = agent_.take(look)) {
      decisions_.push_back(std::move(*decision));
    }
    // As long as nobody has looked twice, nobody knows how many are at work.
    return {decisions_.empty() || decisions_.back().threads.size() > 1, agent_.interval_ms()};
  }

  const threads::Events& events() const { return events_; }
  threads::Events take_events() { return std::move(events_); }
  const std::vector<threads::Decision>& decisions() const { return decisions_; }

 private:
  threads::Agent& agent_;
  threads::Events events_;
  std::vector<threads::Decision> decisions_;
};

}  // namespace huddle::cli
