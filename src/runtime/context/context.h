// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The operations that a protocol may use. Each protocol of src/runtime/node is written once,
// against these concepts, and runs in several contexts: NativeContext executes it, CheckedContext
// (src/check/checker) explores its interleavings, CountedContext (src/check/counting) counts the
// data it moves, and SimulatedContext (src/simulate) predicts its time.
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

enum class Region : std::uint8_t {
  shared,       // the protocol's piece of the owner's arena; accessible to every rank
  input,        // the input buffer of the owner's caller; accessible to the owner only
  output,       // the output buffer of the owner's caller; accessible to the owner only
  scratch,      // private memory of the owner, sized to fit its cache
  peer_mapped,  // memory that a peer has exposed: an address from map_exposed(), plus an offset
};

// An address in a protocol: a region, its owner and an offset. Unlike a pointer, it has the same
// meaning in every context and in every process.
//
// The region and the owner are in one word. The compiler would store two members separately and
// load them together, and a processor delays such a load until the stores have left its store
// buffer, behind a flag whose cache line a peer holds.
class Address {
 public:
  constexpr Address() = default;
  constexpr Address(Region region, int owner, std::size_t at)
      : offset(at),
        where_(std::uint64_t{static_cast<std::uint32_t>(owner)} << 32 |
               static_cast<std::uint64_t>(region)) {}

  constexpr Region region() const { return static_cast<Region>(where_ & 0xffU); }
  constexpr int owner() const { return static_cast<int>(where_ >> 32); }
  constexpr Address operator+(std::size_t bytes) const {
    return {region(), owner(), offset + bytes};
  }
  bool operator==(const Address&) const = default;

  std::size_t offset = 0;

 private:
  std::uint64_t where_ = 0;
};

// Size and alignment of the place in shared memory at which a rank describes memory that it exposes
// to its peers; see SingleCopyContext.
inline constexpr std::size_t exposure_bytes = 8;

// A flag and the condition that a rank waits for; see wait_any().
struct AwaitedFlag {
  Address flag;
  Until until;
};

// The operations of one rank. Flags have 4 bytes and are aligned; everything else is plain memory
// whose accesses are ordered by flags.
//
//   load            returns the value of a flag (acquire)
//   store           sets a flag (release). Also orders earlier non-temporal stores of copy()
//   store_stamped   store() that also writes the stamp of this rank's call (CallStamp) to the 4
//                   bytes after the flag. Requires: the flag is aligned to 8 bytes
//   wait_stamped    like wait(), for a flag that a peer sets with store_stamped() in this call and
//                   does not set again before this rank continues. Throws CallsDiffer if the peer
//                   is in another call or passed other arguments
//   record_stamp    stores the stamp of this rank's call in a ring of this rank's latest stamps at
//                   that place. The next store() publishes it like any other data
//   compare_stamp   throws CallsDiffer if the stamp that a peer has recorded at that place for the
//                   call with this number differs from the stamp of this call. Requires: the peer
//                   has called record_stamp() in this call
//                   Only NativeContext implements stamps. In other contexts, and if all ranks pass
//                   equal arguments, these four operations have no additional effect
//   fetch_add/_sub  atomic read-modify-write; returns the previous value. Slow: protocols avoid it
//   fence           orders earlier stores before later loads (sequentially consistent)
//   wait            blocks until the flag meets the condition; returns its value (acquire). Throws
//                   PeerLost if a rank of the team has died
//   wait_any        blocks until one flag meets its condition; returns its index
//   wait_all        blocks until all flags meet the same condition
//   prefetch_write  prefetches the cache lines of these bytes for writing
//   copy            copies bytes with the given kernel between two places that this rank can
//                   access. Requires: the places do not overlap
//   copy_and_own    copies, and takes ownership of the source's cache lines (read_and_own)
//   own             takes ownership of the cache lines of bytes that this rank has just read
//                   (write_and_keep)
//   reduce          `to` = `left` op `right` for `count` elements; `to` may be `left` or `right`
template <class Ctx>
concept Context = requires(Ctx& ctx, const Ctx& view, Address place, Sequence value, Until until,
                           std::size_t n, std::span<const Address> places,
                           std::span<const AwaitedFlag> awaited, memory::CopyKernel kernel,
                           const memory::Reduction& reduction) {
  { view.rank() } -> std::same_as<int>;
  { view.ranks() } -> std::same_as<int>;
  { ctx.load(place) } -> std::same_as<Sequence>;
  { ctx.store(place, value) } -> std::same_as<void>;
  { ctx.store_stamped(place, value) } -> std::same_as<void>;
  { ctx.wait_stamped(place, until) } -> std::convertible_to<Sequence>;
  { ctx.record_stamp(place) } -> std::same_as<void>;
  { ctx.compare_stamp(place) } -> std::same_as<void>;
  { ctx.fetch_add(place, value) } -> std::same_as<Sequence>;
  { ctx.fetch_sub(place, value) } -> std::same_as<Sequence>;
  { ctx.fence() } -> std::same_as<void>;
  { ctx.wait(place, until) } -> std::convertible_to<Sequence>;
  { ctx.wait_any(awaited) } -> std::same_as<int>;
  { ctx.wait_all(places, until) } -> std::same_as<void>;
  { ctx.prefetch_write(place, n) } -> std::same_as<void>;
  { ctx.copy(place, place, n, kernel) } -> std::same_as<void>;
  { ctx.copy_and_own(place, place, n) } -> std::same_as<void>;
  { ctx.own(place, n) } -> std::same_as<void>;
  { ctx.reduce(place, place, place, n, reduction) } -> std::same_as<void>;
};

// The additional operations of protocols that sleep (see Doorbell). sleep() blocks while the flag
// holds the value, until it is woken or a time limit expires.
template <class Ctx>
concept SleepingContext = Context<Ctx> && requires(Ctx& ctx, Address place, Sequence value) {
  { ctx.sleep(place, value) } -> std::same_as<void>;
  { ctx.wake(place) } -> std::same_as<void>;
};

// The additional operations of single-copy protocols: access to a peer's private memory.
//
//   expose          exposes the memory at `what` to peers: writes a description of its address
//                   (exposure_bytes) to this rank's shared memory at `at`. The next store()
//                   publishes the description like any other data. Until all peers that access the
//                   memory have reported completion, it must stay valid, and bytes that peers write
//                   must not be touched. Returns whether peers can map the memory
//   order_callers_stores
//                   orders earlier stores of this thread, including non-temporal ones of the
//                   application, before later stores. store() orders only the non-temporal stores
//                   of copy(). Call it before setting the flag that publishes an exposure of the
//                   caller's memory. It is not needed for memory from which only this rank copies,
//                   because a rank sees its own stores in program order
//   map_exposed     returns the address at which this rank has mapped the memory exposed at `at`.
//                   The address may be used in copy() and reduce() for as long as pull() is
//                   allowed. Returns nullopt if the memory can only be copied by pull() and push()
//   pull            copies to `to` from the memory exposed at `at`, starting at `offset`
//   push            copies from `from` to the memory exposed at `at`, starting at `offset`
//                   pull() and push() return the error of the path. After an error, the content of
//                   the target is undefined
//   wait_or_owner_death
//                   blocks until the flag meets the condition or its owner has died or left. Unlike
//                   wait(), does not throw if another rank has died: a rank that aborts a call must
//                   not return while a peer writes to its memory
template <class Ctx>
concept SingleCopyContext = Context<Ctx> &&
    requires(Ctx& ctx, Address place, Until until, std::size_t n) {
  { ctx.expose(place, place) } -> std::same_as<bool>;
  { ctx.order_callers_stores() } -> std::same_as<void>;
  { ctx.map_exposed(place) } -> std::same_as<std::optional<Address>>;
  { ctx.pull(place, place, n, n) } -> std::same_as<single_copy::ErrorNumber>;
  { ctx.push(place, n, place, n) } -> std::same_as<single_copy::ErrorNumber>;
  { ctx.wait_or_owner_death(place, until) } -> std::same_as<void>;
};

// A flag on which ranks sleep until it is set, and the number of sleepers. Used if there are more
// ranks than cores. A sleeper increments the count and then checks the flag again; the rank that
// sets the flag then checks the count. Each side has a fence between its store and its load, so at
// least one of them sees the other and no wake-up is lost. The two words lie on separate cache
// lines because every sleeper writes the count.
struct Doorbell {
  Address flag;
  Address sleepers;
  // The value of `sleepers` when no rank sleeps: its initial value.
  Sequence nobody = first_sequence;
};

// Sleeps until the flag meets the condition; returns its value. Callers may spin first.
template <SleepingContext Ctx>
Sequence sleep_until(Ctx& world, const Doorbell& bell, Until until) {
  for (;;) {
    const Sequence seen = world.load(bell.flag);
    if (until.holds(seen)) return seen;
    world.fetch_add(bell.sleepers, 1);
    world.fence();
    // Returns at once if the flag has changed since the load above.
    world.sleep(bell.flag, seen);
    world.fetch_sub(bell.sleepers, 1);
  }
}

// Sets the flag and wakes the ranks that sleep on it. Requires: no other rank sets this flag.
template <SleepingContext Ctx>
void ring(Ctx& world, const Doorbell& bell, Sequence value) {
  world.store(bell.flag, value);
  world.fence();
  if (world.load(bell.sleepers) != bell.nobody) world.wake(bell.flag);
}

}  // namespace huddle::context
