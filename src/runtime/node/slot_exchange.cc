// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/slot_exchange.h"

namespace huddle::node {
namespace {

std::vector<int> ring(int rank, int ranks) {
  std::vector<int> visits;
  for (int step = 1; step < ranks; ++step) visits.push_back((rank + step) % ranks);
  return visits;
}

// Whose blocks a rank meets in the neighbor exchange of Chen and others, step by step: even ranks
// begin to the right, odd ones to the left, then sides take turns. Each step brings the two blocks
// that the neighbour met in the step before; the first one brings the neighbour's own.
std::vector<int> neighbor_exchange(int rank, int ranks) {
  std::vector<int> visits;
  std::vector<bool> met(static_cast<std::size_t>(ranks), false);
  met[static_cast<std::size_t>(rank)] = true;
  const auto meet = [&](int owner) {
    const int who = (owner % ranks + ranks) % ranks;
    if (met[static_cast<std::size_t>(who)]) return;
    met[static_cast<std::size_t>(who)] = true;
    visits.push_back(who);
  };
  const int first_side = rank % 2 == 0 ? 1 : -1;
  meet(rank + first_side);
  // A pair of blocks comes from one side, then one from the other, each a rank farther away.
  for (int step = 1; static_cast<int>(visits.size()) < ranks - 1; ++step) {
    const int side = step % 2 == 0 ? first_side : -first_side;
    meet(rank + side * step);
    meet(rank + side * (step + 1));
  }
  return visits;
}

}  // namespace

SlotExchange::SlotExchange(const Parameters& parameters, int rank, int ranks, world::Sequence start)
    : slot_stride_(slot_bytes(parameters.capacity_bytes)),
      ring_(visits(Order::ring, rank, ranks)),
      neighbors_(visits(Order::neighbor_exchange, rank, ranks)),
      first_(start) {}

std::vector<int> SlotExchange::visits(Order order, int rank, int ranks) {
  switch (order) {
    case Order::ring:
      return ring(rank, ranks);
    case Order::neighbor_exchange:
      return neighbor_exchange(rank, ranks);
  }
  return {};
}

}  // namespace huddle::node
