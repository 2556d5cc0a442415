// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a rank waits: it spins, gives its core away, or sleeps, by who else wants the core; while it
// waits it lets others make progress, and looks whether those that it waits for are still alive.
#pragma once

#include <cstdint>
#include <functional>

namespace huddle::world::hardware {

// What waiting costs here and who shares the cores; known when a team is made.
struct WaitingSettings {
  // More processes than processors where this one runs: spinning keeps the awaited one from
  // working.
  bool crowded = false;
  // Falling asleep and being woken.
  double wake_ns = 5000;
};

// Called about once a microsecond by whoever waits; may be empty.
using ProgressCallback = std::function<void()>;
// Throws PeerLost where a rank of the team has died. Called several times a second by whoever
// waits.
using PeerCheck = std::function<void()>;

struct Waiting {
  WaitingSettings settings;
  ProgressCallback progress;
  PeerCheck check_peers;
};

// One wait. Made when the first looks did not see what was wanted.
class Patience {
 public:
  explicit Patience(const Waiting& waiting);

  // Between two looks at the flag. May throw what the callbacks throw.
  void spend();

 private:
  enum class Way : std::uint8_t { spin, yield, sleep };

  void spin();
  void yield();
  void sleep();
  void call_others(std::int64_t now_ns);
  void notice_company(std::int64_t now_ns);

  const Waiting& waiting_;
  Way way_;
  std::int64_t start_ns_;
  std::int64_t next_progress_ns_;
  std::int64_t next_check_ns_;
  std::int64_t next_notice_ns_;
  std::int64_t switches_;  // times that this thread has lost its core so far; -1: not looked yet
  std::int64_t sleep_ns_;
};

}  // namespace huddle::world::hardware
