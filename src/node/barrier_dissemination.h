// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A barrier in which all do the same: in round k a rank tells the one 2^k places on that everybody
// whom it has heard of is there. After log2 of the ranks rounds all have heard of all.
#pragma once

#include <vector>

#include "node/lines.h"
#include "world/world.h"

namespace huddle::node {

class DisseminationBarrier {
 public:
  struct Parameters {
    // How many neighbours' flags of a round share a line: with two, two ranks need one line.
    int flags_per_line = 1;

    bool operator==(const Parameters&) const = default;
  };

  // pre: shared memory holds `start` everywhere.
  DisseminationBarrier(const Parameters& parameters, int rank, int ranks, world::Sequence start);

  std::size_t shared_bytes() const { return shared_bytes_; }

  template <world::World W>
  void run(W& w) {
    ++round_;
    for (const Step& step : steps_) {
      w.store(step.tell, round_);
      w.wait(step.hear, world::until_reached(round_));
    }
  }

 private:
  struct Step {
    Place tell;
    Place hear;
  };
  std::vector<Step> steps_;
  std::size_t shared_bytes_ = 0;
  world::Sequence round_;
};

}  // namespace huddle::node
