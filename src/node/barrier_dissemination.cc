// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/barrier_dissemination.h"

namespace huddle::node {

DisseminationBarrier::DisseminationBarrier(const Parameters& parameters, int rank, int ranks,
                                           world::Sequence start)
    : round_(start) {
  const int per_line = parameters.flags_per_line;
  const std::size_t stride = round_up(static_cast<std::size_t>(per_line) * flag_bytes, apart_bytes);
  // The flag of a rank lies with the first of those that share its line.
  const auto place = [&](int round, int listener) {
    const int owner = listener / per_line * per_line;
    return Place{Region::shared, owner,
                 static_cast<std::size_t>(round) * stride +
                     static_cast<std::size_t>(listener - owner) * flag_bytes};
  };
  int round = 0;
  for (int distance = 1; distance < ranks; distance *= 2, ++round) {
    steps_.push_back({place(round, (rank + distance) % ranks), place(round, rank)});
  }
  if (rank % per_line == 0) shared_bytes_ = static_cast<std::size_t>(round) * stride;
}

}  // namespace huddle::node
