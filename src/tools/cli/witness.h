// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who is told what a watched program does.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "placement/threads/agent.h"
#include "placement/threads/mover.h"
#include "placement/threads/touch_stream.h"

namespace huddle::cli {

// Keeps what was seen, asks the agent as it goes, and says whom to move where somebody does that.
class Witness : public threads::Listener {
 public:
  enum class Keeps {
    everything,
    latest,  // of a program that may run for days: the last look, and so many decisions
  };

  // `mover`: null where nobody is moved.
  explicit Witness(threads::Agent& agent, const threads::Mover* mover = nullptr,
                   Keeps keeps = Keeps::everything)
      : agent_(agent), mover_(mover), keeps_(keeps) {}

  void take(const threads::Touch& touch) override {
    agent_.take(touch);
    if (keeps_ == Keeps::everything) events_.emplace_back(touch);
  }
  Wish take(const threads::Look& look) override {
    if (keeps_ == Keeps::latest) events_.clear();
    events_.emplace_back(look);
    if (mover_ != nullptr) agent_.take(mover_->standing());
    Wish wish;
    if (std::optional<threads::Decision> decision = agent_.take(look)) {
      wish = wish_of(*decision);
      if (keeps_ == Keeps::latest) decision->sharing = {};
      decisions_.push_back(std::move(*decision));
    }
    constexpr std::size_t most_decisions = 1000;
    if (keeps_ == Keeps::latest && decisions_.size() > most_decisions) {
      decisions_.erase(decisions_.begin());
    }
    // As long as nobody has looked twice, nobody knows how many are at work.
    wish.touches = decisions_.empty() || decisions_.back().threads.size() > 1;
    wish.next_look_ms = agent_.interval_ms();
    return wish;
  }

  const threads::Events& events() const { return events_; }
  threads::Events take_events() { return std::move(events_); }
  const std::vector<threads::Decision>& decisions() const { return decisions_; }

 private:
  // All that are at work: whoever stays is bound as well, or the system might move him away.
  static Wish wish_of(const threads::Decision& decision) {
    Wish wish{.gives_back = decision.gives_back};
    if (decision.reason != threads::Reason::move) return wish;
    for (std::size_t i = 0; i < decision.threads.size(); ++i) {
      wish.seats.push_back({decision.threads[i], decision.wanted[i]});
    }
    return wish;
  }

  threads::Agent& agent_;
  const threads::Mover* mover_;
  Keeps keeps_;
  threads::Events events_;
  std::vector<threads::Decision> decisions_;
};

}  // namespace huddle::cli
