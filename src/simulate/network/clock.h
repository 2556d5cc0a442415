// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A moment in simulated time that knows what the time until then went into: of all that had to
// happen before it, what was waited for last, and before that, and so on to the beginning.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace huddle::sim {

enum class Cause {
  processor,  // busy with messages
  latency,    // of cards, cables and switches
  wire,       // bytes on their way, if nobody else used the links
  sharing,    // what that takes longer because others do
  card,       // waiting until the node's card is free
  work,       // local copies and joins
};
inline constexpr std::array<std::string_view, 6> cause_names = {"processor", "latency", "wire",
                                                                "sharing",   "card",    "work"};

struct Clock {
  double ns = 0;
  std::array<double, cause_names.size()> by_cause = {};

  void pass(Cause cause, double more_ns) {
    ns += more_ns;
    by_cause[static_cast<std::size_t>(cause)] += more_ns;
  }
  // Waits until that moment; what led there is then what took the time.
  void wait_for(const Clock& other) {
    if (other.ns > ns) *this = other;
  }
};

}  // namespace huddle::sim
