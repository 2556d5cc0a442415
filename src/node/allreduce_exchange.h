// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction to all of little data, in one step: everybody shows its contribution, which rides
// behind its flag, and everybody joins them all. More lines move than in a tree, but nobody waits
// for anybody's result.
#pragma once

#include "node/association.h"
#include "node/fold.h"
#include "node/lines.h"
#include "world/world.h"

namespace huddle::node {

class ExchangeAllreduce {
 public:
  struct Parameters {
    std::size_t capacity_bytes = line_bytes - payload_offset;
  };

  // pre: shared memory holds `start` everywhere.
  ExchangeAllreduce(const Parameters& parameters, const Association& association,
                    world::Sequence start);

  std::size_t shared_bytes() const { return 2 * slot_stride_; }
  std::size_t scratch_bytes() const { return slot_stride_; }

  // pre: count elements are not over the capacity.
  template <world::World W>
  void run(W& w, std::size_t count, const memory::Reduction& reduction) {
    ++call_;
    const Join join{count, reduction};
    const Place mine = slot_of(w.rank());
    w.copy(mine + payload_offset, {Region::input, w.rank(), 0}, join.bytes(),
           memory::CopyKernel::plain);
    w.store(mine, call_);
    const auto contribution = [&](int rank) {
      const Place slot = slot_of(rank);
      if (rank != w.rank()) w.wait(slot, world::until_reached(call_));
      return slot + payload_offset;
    };
    fold_ranks(w, {Region::output, w.rank(), 0}, {Region::scratch, w.rank(), 0}, association_,
               contribution, join);
  }

 private:
  // Two slots in turn: whoever writes for the call after next has seen everybody's flag of the
  // next, and they raised it after reading this one's.
  Place slot_of(int owner) const { return {Region::shared, owner, call_ % 2 * slot_stride_}; }

  Association association_;
  std::size_t slot_stride_;
  world::Sequence call_;
};

}  // namespace huddle::node
