// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "world/hardware/hardware.h"

#include <sched.h>

#include "memory/prefetch.h"
#include "world/peer_lost.h"
#include "world/world.h"

namespace huddle::world::hardware {

static_assert(SingleCopyWorld<Hardware>);

Sequence Hardware::wait_longer(Flag word, Until until) {
  Patience patience(*surroundings_.waiting);
  for (;;) {
    try {
      patience.spend();
    } catch (const PeerLost&) {
      // What the lost one did before it died counts.
      const Sequence seen = word.load(std::memory_order_acquire);
      if (until.holds(seen)) return seen;
      throw;
    }
    const Sequence seen = word.load(std::memory_order_acquire);
    if (until.holds(seen)) return seen;
  }
}

int Hardware::find(std::span<const Awaited> awaited) {
  for (std::size_t i = 0; i < awaited.size(); ++i) {
    if (awaited[i].until.holds(load(awaited[i].flag))) return static_cast<int>(i);
  }
  return -1;
}

int Hardware::wait_any(std::span<const Awaited> awaited) {
  Patience patience(*surroundings_.waiting);
  int found = find(awaited);
  while (found < 0) {
    try {
      patience.spend();
    } catch (const PeerLost&) {
      found = find(awaited);
      if (found < 0) throw;
      return found;
    }
    found = find(awaited);
  }
  return found;
}

void Hardware::outlast(Place place, Until until) {
  while (!until.holds(load(place)) && !surroundings_.waiting->is_gone(place.owner)) sched_yield();
}

void Hardware::prefetch_write(Place place, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at < bytes; at += line_bytes) {
    memory::prefetch_for_write(address(place) + at);
  }
}

}  // namespace huddle::world::hardware
