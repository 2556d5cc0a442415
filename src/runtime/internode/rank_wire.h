// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A wire between the ranks of a communicator, and between some of them.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/schedules/wire.h"

namespace huddle::internode {

class RankWire : public net::Wire {
 public:
  // From whichever rank. pre: nothing else may come in by this wire meanwhile.
  virtual Ticket receive_from_any(std::span<std::byte> bytes) = 0;
};

// Peers are those ranks, by their numbers in that list. Keeps references.
class SomeRanks : public net::Wire {
 public:
  SomeRanks(net::Wire& by_rank, std::span<const int> ranks) : by_rank_(by_rank), ranks_(ranks) {}

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    return by_rank_.send(rank_of(peer), bytes);
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    return by_rank_.receive(rank_of(peer), bytes);
  }
  bool test(Ticket ticket) override { return by_rank_.test(ticket); }

 private:
  int rank_of(int peer) const { return ranks_[static_cast<std::size_t>(peer)]; }

  net::Wire& by_rank_;
  std::span<const int> ranks_;
};

}  // namespace huddle::internode
