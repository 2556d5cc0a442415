// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/reduction_order.h"

#include <algorithm>

#include "model/machine/infer.h"

namespace huddle::node {
namespace {

using Starts = std::vector<int>;  // first rank of each block, and one past the last rank

Starts even_blocks(int ranks, int block) {
  Starts starts;
  for (int rank = 0; rank < ranks; rank += block) starts.push_back(rank);
  starts.push_back(ranks);
  return starts;
}

// Cuts ranks into runs of consecutive ranks in the same group.
Starts runs(const std::vector<int>& group_of) {
  Starts starts = {0};
  const int ranks = static_cast<int>(group_of.size());
  for (int rank = 1; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (group_of[at] != group_of[at - 1]) starts.push_back(rank);
  }
  starts.push_back(ranks);
  return starts;
}

// Returns the critical path in operations: within the largest block, then over the blocks.
int combines(const Starts& starts) {
  int largest = 0;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    largest = std::max(largest, starts[i] - starts[i - 1]);
  }
  return largest + static_cast<int>(starts.size()) - 1;
}

// Blocks that follow a level of the machine may have a critical path longer by this factor than
// even blocks, because operations across the machine cost several times more than within a shared
// cache.
constexpr int worth_of_nearness = 2;

// Uses integers only, because all ranks must get the same result.
int ceil_sqrt(int number) {
  int root = 0;
  while (root * root < number) ++root;
  return root;
}

Starts blocks_for(const RankLocality& locality) {
  const int ranks = locality.ranks();
  const int even = ceil_sqrt(ranks);
  const Starts whole = {0, ranks};
  Starts best = even_blocks(ranks, even);
  if (combines(whole) <= combines(best)) best = whole;
  const int allowed = worth_of_nearness * combines(best);
  int least = allowed + 1;
  for (std::size_t i = 0; i < locality.group_of.size(); ++i) {
    // inferred levels depend on measurements: the next calibration may not detect this one
    if (machine::is_inferred(locality.levels[i])) continue;
    Starts level = runs(locality.group_of[i]);
    if (combines(level) >= least) continue;
    least = combines(level);
    best = std::move(level);
  }
  return best;
}

}  // namespace

ReductionOrder::ReductionOrder(const RankLocality& locality) : first_(blocks_for(locality)) {
  block_of_.resize(static_cast<std::size_t>(locality.ranks()));
  for (int block = 0; block < blocks(); ++block) {
    std::fill(block_of_.begin() + first(block), block_of_.begin() + first(block + 1), block);
  }
}

}  // namespace huddle::node
