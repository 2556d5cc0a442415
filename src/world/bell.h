// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Sleeping until a flag is raised, where the ranks outnumber the cores. Who waits says that it
// sleeps and looks once more; who raises the flag asks afterwards whether anyone sleeps. Each
// stores before it looks, with a fence between: so at least one of them sees the other, and no
// wake-up is lost.
#pragma once

#include "world/place.h"
#include "world/sequence.h"
#include "world/world.h"

namespace huddle::world {

// A flag that ranks sleep at, and the word that counts them: a line each, for every sleeper writes
// the second one.
struct Bell {
  Place flag;
  Place sleepers;
  // What `sleepers` holds when nobody sleeps: what it was filled with.
  Sequence nobody = first_sequence;
};

// Waits until the flag holds what is wanted, asleep; returns what was seen. Spinning for a while
// first is the caller's business.
template <SleepingWorld W>
Sequence sleep_until(W& world, const Bell& bell, Until until) {
  Sequence seen = world.load(bell.flag);
  while (!until.holds(seen)) {
    world.fetch_add(bell.sleepers, 1);
    world.fence();
    seen = world.load(bell.flag);
    // Returns at once where the flag has moved on since that load.
    if (!until.holds(seen)) world.sleep(bell.flag, seen);
    world.fetch_sub(bell.sleepers, 1);
    seen = world.load(bell.flag);
  }
  return seen;
}

// Raises the flag and wakes whoever sleeps until it moves. As ever, one rank stores a flag.
template <SleepingWorld W>
void ring(W& world, const Bell& bell, Sequence value) {
  world.store(bell.flag, value);
  world.fence();
  if (world.load(bell.sleepers) != bell.nobody) world.wake(bell.flag);
}

}  // namespace huddle::world
