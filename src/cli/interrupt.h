// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ctrl-C and SIGTERM as a request: whoever works looks at the flag and ends in order.
#pragma once

#include <atomic>
#include <string_view>

namespace huddle::cli {

// While one of these lives, the first SIGINT or SIGTERM sets the flag; a second one kills as usual.
// There can be only one at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& requested() const;
  std::string_view signal_name() const;  // pre: requested
  // Ends the program by the signal that came, so that a shell sees what it was. pre: requested
  [[noreturn]] void die() const;
};

}  // namespace huddle::cli
