// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction to all in one step: everybody shows its contribution, and everybody joins them all.
// More moves than in a tree, but nobody waits for anybody's result. For little data, which rides
// behind its flag, and for much among a few ranks: then in rounds, of which the next is shown
// before the one at hand is joined.
#pragma once

#include <algorithm>

#include "node/association.h"
#include "node/fold.h"
#include "node/lines.h"
#include "world/world.h"

namespace huddle::node {

class ExchangeAllreduce {
 public:
  struct Parameters {
    std::size_t capacity_bytes = most_in_line;  // of a slot
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // not over the capacity
    memory::CopyKernel copy_in = memory::CopyKernel::plain;
  };

  // pre: shared memory holds `start` everywhere.
  ExchangeAllreduce(const Parameters& parameters, const Association& association,
                    world::Sequence start);

  std::size_t shared_bytes() const { return slots * slot_stride_; }
  std::size_t scratch_bytes() const { return spare_bytes(slot_stride_); }

  // pre: an element is not over round_bytes.
  template <world::World W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    const std::size_t most = plan.round_bytes / reduction.element_bytes;
    const std::size_t rounds = (count + most - 1) / most;
    const auto round = [&](std::size_t i) {
      return Round{first_ + static_cast<world::Sequence>(i) + 1,
                   i * most * reduction.element_bytes,
                   {std::min(most, count - i * most), reduction}};
    };
    if (rounds > 0) show(w, round(0), plan.copy_in);
    for (std::size_t i = 0; i < rounds; ++i) {
      if (i + 1 < rounds) show(w, round(i + 1), plan.copy_in);
      join(w, round(i));
    }
    first_ += static_cast<world::Sequence>(rounds);
  }

  // A rank shows a round when it has seen everybody's flag of the round two before, and that was
  // raised when its owner had joined the one two before that: four slots are enough. The first
  // round of a call comes after the last of the call before was joined, which is later still.
  static constexpr world::Sequence slots = 4;

 private:
  struct Round {
    world::Sequence number = 0;  // among the rounds of all calls
    std::size_t offset = 0;      // in the caller's buffers
    Join what;

    std::size_t payload() const { return payload_at(what.bytes()); }
  };

  Place slot_of(int owner, const Round& round) const {
    return {Region::shared, owner, round.number % slots * slot_stride_};
  }

  template <world::World W>
  void show(W& w, const Round& round, memory::CopyKernel kernel) {
    const Place mine = slot_of(w.rank(), round);
    w.copy(mine + round.payload(), {Region::input, w.rank(), round.offset}, round.what.bytes(),
           kernel);
    w.store(mine, round.number);
  }

  template <world::World W>
  void join(W& w, const Round& round) {
    const auto contribution = [&](int rank) {
      if (rank == w.rank()) return Place{Region::input, rank, round.offset};
      const Place slot = slot_of(rank, round);
      w.wait(slot, world::until_reached(round.number));
      return slot + round.payload();
    };
    fold_ranks(w, {Region::output, w.rank(), round.offset}, spare_of(w.rank(), slot_stride_),
               association_, contribution, round.what);
  }

  Association association_;
  std::size_t slot_stride_;
  world::Sequence first_;  // rounds of all calls so far
};

}  // namespace huddle::node
