// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What happened in an execution, for people.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "check/checker/site.h"

namespace huddle::verify::checker {

class Trace {
 public:
  struct Touched {
    std::size_t first = 0;  // byte of all memory
    std::size_t n = 0;
  };

  void begin(bool on) {
    on_ = on;
    events_.clear();
  }
  bool on() const { return on_; }
  // pre: on().
  void note(const Call& call, std::string text, std::vector<Touched> touched = {});

  // The last events, one a line.
  std::string tail(std::size_t events) const;
  // Where the rank last touched this byte.
  std::optional<Site> last_touch(int rank, std::size_t byte) const;

 private:
  struct Event {
    Call call;
    std::string text;
    std::vector<Touched> touched;
  };
  bool on_ = false;
  std::vector<Event> events_;
};

}  // namespace huddle::verify::checker
