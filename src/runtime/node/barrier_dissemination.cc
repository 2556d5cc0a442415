// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/barrier_dissemination.h"

namespace huddle::node {

DisseminationBarrier::DisseminationBarrier(const Parameters& parameters, int rank, int ranks,
                                           world::Sequence start)
    : call_(start) {
  const int per_line = parameters.flags_per_line;
  const std::size_t stride = round_up(static_cast<std::size_t>(per_line) * flag_bytes, apart_bytes);
  // The flag of a rank lies with the first of those that share its line.
  const auto place = [&](std::size_t round, int announcer) {
    const int owner = announcer / per_line * per_line;
    return FlagAddress{owner,
                       round * stride + static_cast<std::size_t>(announcer - owner) * flag_bytes};
  };
  for (int distance = 1; distance < ranks; distance *= parameters.radix) {
    Round round{place(rounds_.size(), rank), {}};
    for (int step = 1; step < parameters.radix && step * distance < ranks; ++step) {
      round.hear.push_back(place(rounds_.size(), (rank + ranks - step * distance) % ranks));
    }
    rounds_.push_back(std::move(round));
  }
  if (rank % per_line == 0) shared_bytes_ = rounds_.size() * stride;
}

}  // namespace huddle::node
