// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ctrl-C and SIGTERM as a request: whoever works looks at the flag and ends in order.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <string_view>

namespace huddle::cli {

// While one of these lives, the first SIGINT or SIGTERM sets the flag; a second one kills as usual.
// A signal that the caller ignores stays ignored: a job in the background of a script must not end
// by the Ctrl-C that is meant for another. There can be only one at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Signal handlers reach nothing but globals: the flag is one.
  const std::atomic<bool>& requested() const;
  std::string_view signal_name() const;  // pre: requested
  // Ends the program by the signal that came, so that a shell sees what it was. pre: requested
  [[noreturn]] void die() const;

 private:
  static constexpr std::array<int, 2> signals = {SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> before_{};  // what the caller did about each
};

}  // namespace huddle::cli
