// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A barrier in which all do the same: in each round a rank announces that everybody whom it has
// heard of is there, and listens to some others, farther off from round to round. With radix 2 it
// listens to one in each of log2 of the ranks rounds; with as many as there are ranks, to all in
// one round: the fewest waits, where each wait means that somebody has to get a core.
#pragma once

#include <vector>

#include "runtime/context/world.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class DisseminationBarrier {
 public:
  struct Parameters {
    int radix = 2;
    // How many neighbours' flags of a round share a line: with two, two ranks need one line.
    int flags_per_line = 1;

    bool operator==(const Parameters&) const = default;
  };

  // pre: shared memory holds `start` everywhere; radix is 2 or more.
  DisseminationBarrier(const Parameters& parameters, int rank, int ranks, world::Sequence start);

  std::size_t shared_bytes() const { return shared_bytes_; }

  template <world::World W>
  void run(W& w) {
    ++call_;
    for (const Round& round : rounds_) {
      w.store(round.announce, call_);
      for (const FlagAddress& other : round.hear) w.wait(other, world::until_reached(call_));
    }
  }

 private:
  struct Round {
    FlagAddress announce;
    std::vector<FlagAddress> hear;
  };
  std::vector<Round> rounds_;
  std::size_t shared_bytes_ = 0;
  world::Sequence call_;
};

}  // namespace huddle::node
