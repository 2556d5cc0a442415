// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Sleeping until a flag is raised, where the ranks outnumber the cores. Who sleeps is counted first
// and looks at the flag once more; who raises the flag looks afterwards whether anyone is counted.
// Each stores before it looks, with a fence between: so at least one of them sees the other, and no
// wake-up is lost.
#pragma once

#include "runtime/context/address.h"
#include "runtime/context/sequence.h"
#include "runtime/context/world.h"

namespace huddle::world {

// A flag that ranks sleep at, and the word that counts them: a line each, for every sleeper writes
// the second one.
struct Doorbell {
  Address flag;
  Address sleepers;
  // What `sleepers` holds when nobody sleeps: what it was filled with.
  Sequence nobody = first_sequence;
};

// Waits until the flag holds what is wanted, asleep; returns what was seen. Spinning for a while
// first is the caller's business.
template <SleepingWorld W>
Sequence sleep_until(W& world, const Doorbell& bell, Until until) {
  for (;;) {
    const Sequence seen = world.load(bell.flag);
    if (until.holds(seen)) return seen;
    world.fetch_add(bell.sleepers, 1);
    world.fence();
    // The second look: it returns at once where the flag has moved on since the first.
    world.sleep(bell.flag, seen);
    world.fetch_sub(bell.sleepers, 1);
  }
}

// Raises the flag and wakes whoever sleeps until it moves. As ever, one rank stores a flag.
template <SleepingWorld W>
void ring(W& world, const Doorbell& bell, Sequence value) {
  world.store(bell.flag, value);
  world.fence();
  if (world.load(bell.sleepers) != bell.nobody) world.wake(bell.flag);
}

}  // namespace huddle::world
