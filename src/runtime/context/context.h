// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a protocol may do: the seam between the protocols of src/runtime/node, each written once,
// and the places where they run. `hardware` runs them, `checker` tries every order of events on
// them, `counting` counts what they move; a simulated machine can take the same seam.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/context/sequence.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/reduction.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::context {

// How a protocol addresses memory: whose it is, which part of it, and how far in. It is no pointer:
// the same address means something in every world, and in every process.
enum class Region : std::uint8_t {
  shared,   // the protocol's piece of the owner's arena; every rank reaches every owner's
  input,    // what the owner's caller handed in to be read; a rank reaches only its own
  output,   // what the owner's caller wants filled; a rank reaches only its own
  scratch,  // private memory of the owner, cache-sized
  reached,  // a peer's, that it has exposed: only as reach() returned it, and bytes further on
};

struct Address {
  Region region = Region::shared;
  int owner = 0;
  std::size_t offset = 0;

  constexpr Address operator+(std::size_t bytes) const { return {region, owner, offset + bytes}; }
  bool operator==(const Address&) const = default;
};

// What it takes to tell others an address: so much shared memory, aligned to as much.
inline constexpr std::size_t exposure_bytes = 8;

// One of several flags that a rank waits for at once, and what it wants of it.
struct AwaitedFlag {
  Address flag;
  Until until;
};

// One rank's view. Flags are 4 bytes, aligned; everything else is plain memory that flags order.
//
//   load            what a flag holds; what its writer did before storing that is seen (acquire)
//   store           everything done before is seen by whoever loads it (release), also what was
//                   copied by non-temporal stores
//   store_stamped   store() that also leaves the stamp of this rank's call (call_stamp.h) in the 4
//                   bytes behind the flag. The flag is aligned to 8 bytes
//   wait_stamped    wait() for a flag that a peer stores by store_stamped() in this call and does
//                   not store again before this rank goes on. Throws CallsDiffer if the peer's call
//                   is another one, or has other arguments
//   keep_stamp      leaves the stamp of this rank's call among the latest ones at that place, which
//                   no other rank writes. It is seen like any store before the next flag
//   compare_stamp   throws CallsDiffer if what a peer kept there for its call of this number is not
//                   the stamp of this call. pre: the peer has called keep_stamp in this call
//                   The four change nothing for ranks whose calls have equal arguments: only the
//                   hardware has stamps
//   fetch_add/_sub  both at once, and atomic; returns what was there before. A last resort
//   fence           stores before it are seen by all before loads after it are done
//   wait            until a flag holds what is wanted; returns what was seen, acquired. Throws
//                   PeerLost where a rank of the team has died
//   wait_any        returns the index of one that holds what is wanted of it; wait_all returns when
//                   all hold the same
//   prefetch_write  these bytes are written next
//   copy            by this kernel, between two places of this rank's reach that do not overlap
//   take            copies, and what it copies from is this rank's alone then (read_and_own)
//   keep            what was read there is this rank's alone then (write_and_keep)
//   reduce          `to` = `left` op `right` for `count` elements; `to` may be either of them
template <class W>
concept Context = requires(W& w, const W& view, Address place, Sequence value, Until until,
                           std::size_t n, std::span<const Address> places,
                           std::span<const AwaitedFlag> awaited, memory::CopyKernel kernel,
                           const memory::Reduction& reduction) {
  { view.rank() } -> std::same_as<int>;
  { view.ranks() } -> std::same_as<int>;
  { w.load(place) } -> std::same_as<Sequence>;
  { w.store(place, value) } -> std::same_as<void>;
  { w.store_stamped(place, value) } -> std::same_as<void>;
  { w.wait_stamped(place, until) } -> std::convertible_to<Sequence>;
  { w.keep_stamp(place) } -> std::same_as<void>;
  { w.compare_stamp(place) } -> std::same_as<void>;
  { w.fetch_add(place, value) } -> std::same_as<Sequence>;
  { w.fetch_sub(place, value) } -> std::same_as<Sequence>;
  { w.fence() } -> std::same_as<void>;
  { w.wait(place, until) } -> std::convertible_to<Sequence>;
  { w.wait_any(awaited) } -> std::same_as<int>;
  { w.wait_all(places, until) } -> std::same_as<void>;
  { w.prefetch_write(place, n) } -> std::same_as<void>;
  { w.copy(place, place, n, kernel) } -> std::same_as<void>;
  { w.take(place, place, n) } -> std::same_as<void>;
  { w.keep(place, n) } -> std::same_as<void>;
  { w.reduce(place, place, place, n, reduction) } -> std::same_as<void>;
};

// What only a sleeping protocol needs (bell.h). `sleep` returns at once where the flag no longer
// holds the value, else when somebody wakes it or when a while has passed.
template <class W>
concept SleepingContext = Context<W> && requires(W& w, Address place, Sequence value) {
  { w.sleep(place, value) } -> std::same_as<void>;
  { w.wake(place) } -> std::same_as<void>;
};

// What only a single-copy protocol needs: reaching what is a peer's own, by a path that may refuse.
//
//   expose          writes exposure_bytes into this rank's shared memory, at `at`, that say where
//                   its `what` lies. Ordered for others like any copy there: by the store that
//                   follows. Until all who reach it have said that they are through, what lies
//                   there has to stay, and what they write is theirs. Returns whether peers can
//                   reach it
//   order_callers_stores
//                   what this rank stored before, non-temporally too, is seen by whoever acquires a
//                   store that follows: see store(), which only knows of what copy() stored so.
//                   Comes before the flag behind which the caller's memory is exposed. What this
//                   rank copies from there itself needs no such thing: it sees its own stores in
//                   order
//   reach           where what `at` exposes lies for this rank, to be named in copy() and reduce()
//                   like its own for as long as it may be pulled; nothing where the path copies
//                   only
//   pull            copies to `to` what `at` exposes, from `offset` bytes on
//   push            copies `from` to what `at` exposes, from `offset` bytes on
//                   Where a pull or push fails the path's error is returned, and what was copied is
//                   not to be used
//   outlast         until the flag holds what is wanted, or its owner is gone, whoever else has
//                   died: for a rank that leaves early, and must not while somebody pushes to its
//                   memory
template <class W>
concept SingleCopyContext = Context<W> &&
    requires(W& w, Address place, Until until, std::size_t n) {
  { w.expose(place, place) } -> std::same_as<bool>;
  { w.order_callers_stores() } -> std::same_as<void>;
  { w.reach(place) } -> std::same_as<std::optional<Address>>;
  { w.pull(place, place, n, n) } -> std::same_as<single_copy::ErrorNumber>;
  { w.push(place, n, place, n) } -> std::same_as<single_copy::ErrorNumber>;
  { w.outlast(place, until) } -> std::same_as<void>;
};

// Sleeping until a flag is raised, where the ranks outnumber the cores. Who sleeps is counted first
// and looks at the flag once more; who raises the flag looks afterwards whether anyone is counted.
// Each stores before it looks, with a fence between: so at least one of them sees the other, and no
// wake-up is lost.

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
template <SleepingContext W>
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
template <SleepingContext W>
void ring(W& world, const Doorbell& bell, Sequence value) {
  world.store(bell.flag, value);
  world.fence();
  if (world.load(bell.sleepers) != bell.nobody) world.wake(bell.flag);
}

}  // namespace huddle::context
