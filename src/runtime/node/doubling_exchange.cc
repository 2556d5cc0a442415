// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/doubling_exchange.h"

namespace huddle::node {

std::vector<DoublingExchange::Round> DoublingExchange::rounds(int ranks) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < ranks; distance *= 2) {
    rounds.push_back({distance, std::min(distance, ranks - distance)});
  }
  return rounds;
}

DoublingExchange::DoublingExchange(const Parameters& parameters, int rank, int ranks,
                                   world::Sequence start)
    : call_(start) {
  const std::size_t largest_block = parameters.capacity_bytes / static_cast<std::size_t>(ranks);
  SharedLayout layout;
  for (const Round& round : rounds(ranks)) {
    const std::size_t most = largest_block * static_cast<std::size_t>(round.blocks);
    messages_.push_back(
        {round.blocks, (rank + round.distance) % ranks, layout.take(slot_bytes(most))});
  }
  set_bytes_ = layout.size();
}

}  // namespace huddle::node
