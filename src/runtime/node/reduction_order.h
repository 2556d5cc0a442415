// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// In which order a reduction puts its contributions together. Sums of floating point numbers depend
// on it, so there is one order for a team, and every algorithm keeps to it:
//
//   Ranks are cut into blocks of consecutive ranks. Within a block contributions are joined from
//   left to right; then the blocks' results are joined from left to right.
//
// Blocks follow the machine where that is about as short as any order can be. They depend on the
// number of ranks and on where these sit, on nothing that is measured: levels that were inferred
// from latencies do not count.
#pragma once

#include <span>
#include <vector>

#include "runtime/node/locality.h"

namespace huddle::node {

class ReductionOrder {
 public:
  explicit ReductionOrder(const RankLocality& locality);

  int blocks() const { return static_cast<int>(first_.size()) - 1; }
  // Ranks of a block: first(b) up to, not including, first(b + 1).
  int first(int block) const { return first_[static_cast<std::size_t>(block)]; }
  int block_of(int rank) const { return block_of_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<int> first_;
  std::vector<int> block_of_;
};

}  // namespace huddle::node
