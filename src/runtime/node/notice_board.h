// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Everybody shows a few bytes to everybody: how the members of a team agree on something.
#pragma once

#include "runtime/context/world.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class NoticeBoard {
 public:
  // pre: shared memory holds `start` everywhere.
  NoticeBoard(std::size_t most_bytes, world::Sequence start);

  static std::size_t shared_bytes(std::size_t most_bytes) { return 2 * slot_bytes(most_bytes); }

  // All notices in rank order. pre: the same number of bytes on all ranks, not over most_bytes.
  template <world::World W>
  void run(W& w, std::size_t bytes) {
    ++call_;
    const Address mine = slot_of(w.rank());
    w.copy(mine + payload_at(bytes), {Region::input, w.rank(), 0}, bytes,
           memory::CopyKernel::plain);
    w.store_stamped(mine, call_);
    for (int rank = 0; rank < w.ranks(); ++rank) {
      const Address slot = slot_of(rank);
      w.wait_stamped(slot, world::until_reached(call_));
      w.copy({Region::output, w.rank(), static_cast<std::size_t>(rank) * bytes},
             slot + payload_at(bytes), bytes, memory::CopyKernel::plain);
    }
  }

 private:
  // Two slots in turn: whoever writes for the call after next has seen everybody's flag of the
  // next, and they raised it after reading this one's.
  Address slot_of(int owner) const { return {Region::shared, owner, call_ % 2 * stride_}; }

  std::size_t stride_;
  world::Sequence call_;
};

}  // namespace huddle::node
