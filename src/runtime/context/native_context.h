// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The context in which protocols run in production: flags are atomics in memory that the ranks
// share. The fast path is inline; only long waits are not.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/context/waiting.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/cpu.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/reduction.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::context {

// The addresses of a protocol's memory in this process, and how this rank waits. Must outlive the
// contexts that use it.
struct ProtocolContext {
  int rank = 0;
  int ranks = 1;
  std::byte* const* shared = nullptr;  // by owner
  std::byte* scratch = nullptr;
  Waiting* waiting = nullptr;
  single_copy::PeerMemory* const* peers = nullptr;  // by owner; for protocols that pull or push
  // This rank's heap, if peers may map exposed memory in it; null otherwise.
  const memory::HeapFacts* heap = nullptr;
};

// The buffers that the caller passed to one collective.
struct Buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

class NativeContext {
 public:
  NativeContext(const ProtocolContext& context, const Buffers& buffers)
      : context_(context),
        buffers_(buffers),
        stamp_(context.waiting == nullptr ? CallStamp() : context.waiting->stamp()) {}

  int rank() const { return context_.rank; }
  int ranks() const { return context_.ranks; }

  Sequence load(Address place) { return flag(place).load(std::memory_order_acquire); }
  void store(Address place, Sequence value) { flag(place).store(value, std::memory_order_release); }
  Sequence fetch_add(Address place, Sequence value) { return flag(place).fetch_add(value); }
  Sequence fetch_sub(Address place, Sequence value) { return flag(place).fetch_sub(value); }
  void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

  Sequence wait(Address place, Until until) { return wait_at(flag(place), until); }
  // A single store, so that a reader never fetches the cache line twice.
  void store_stamped(Address place, Sequence value) {
    static_assert(std::endian::native == std::endian::little, "the flag comes first");
    const std::uint64_t both = std::uint64_t{stamp_.bits()} << 32 | value;
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(address(place)))
        .store(both, std::memory_order_release);
  }
  Sequence wait_stamped(Address place, Until until) {
    Sequence* const word = word_at(place);
    const Sequence seen = wait_at(Flag(*word), until);
    if (stamp_in(word[1]) != stamp_) throw_calls_differ(place.owner());
    return seen;
  }
  void record_stamp(Address place) {
    flag(own_stamp(place)).store(stamp_.bits(), std::memory_order_relaxed);
  }
  void compare_stamp(Address place) {
    const CallStamp seen = stamp_in(*word_at(own_stamp(place)));
    if (seen != stamp_ && !seen.is_of_later_call_than(stamp_)) throw_calls_differ(place.owner());
  }
  int wait_any(std::span<const AwaitedFlag> awaited);
  void wait_all(std::span<const Address> places, Until until) {
    for (const Address& place : places) wait(place, until);
  }

  // Does not call the progress callbacks, because the wait is short.
  void wait_or_owner_death(Address place, Until until);

  void prefetch_write(Address place, std::size_t bytes);
  void copy(Address to, Address from, std::size_t bytes, memory::CopyKernel kernel) {
    if (kernel == memory::CopyKernel::plain && memory::is_tiny(bytes)) {
      memory::copy_tiny(address(to), address(from), bytes);
    } else {
      memory::copy_bytes(kernel, address(to), address(from), bytes);
    }
  }
  void copy_and_own(Address to, Address from, std::size_t bytes) {
    memory::read_and_own(address(to), address(from), bytes);
  }
  void own(Address place, std::size_t bytes) { memory::write_and_keep(address(place), bytes); }
  void reduce(Address to, Address left, Address right, std::size_t count,
              const memory::Reduction& reduction) {
    reduction(address(to), address(left), address(right), count);
  }

  bool expose(Address at, Address what) {
    const single_copy::RemoteAddress told = told_of(address(what));
    std::memcpy(address(at), &told, sizeof told);
    return single_copy::is_mapped(told);
  }
  void order_callers_stores() { memory::order_nontemporal_stores(); }
  std::optional<Address> map_exposed(Address at) {
    const single_copy::RemoteAddress told = told_at(at);
    if (!single_copy::is_mapped(told)) return std::nullopt;
    const std::byte* here = context_.peers[at.owner()]->mapped(told);
    return Address{Region::peer_mapped, at.owner(), reinterpret_cast<std::uintptr_t>(here)};
  }
  single_copy::ErrorNumber pull(Address to, Address at, std::size_t offset, std::size_t bytes) {
    return context_.peers[at.owner()]->read(address(to), told_at(at) + offset, bytes);
  }
  single_copy::ErrorNumber push(Address at, std::size_t offset, Address from, std::size_t bytes) {
    return context_.peers[at.owner()]->write(told_at(at) + offset, address(from), bytes);
  }

 private:
  using Flag = std::atomic_ref<Sequence>;

  std::byte* address(Address place) const {
    switch (place.region()) {
      case Region::shared:
        return context_.shared[place.owner()] + place.offset;
      case Region::input:
        // The cast is safe because protocols only read this region. With a single pointer type,
        // copy() is one function.
        return const_cast<std::byte*>(buffers_.input) + place.offset;
      case Region::output:
        return buffers_.output + place.offset;
      case Region::scratch:
        return context_.scratch + place.offset;
      case Region::peer_mapped:
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the offset is an address here
        return reinterpret_cast<std::byte*>(place.offset);
    }
    return nullptr;
  }

  single_copy::RemoteAddress told_of(const std::byte* address) const {
    const single_copy::RemoteAddress told = reinterpret_cast<std::uintptr_t>(address);
    const memory::HeapFacts* heap = context_.heap;
    return heap != nullptr && heap->shows(address) ? told | single_copy::mapped_bit : told;
  }
  single_copy::RemoteAddress told_at(Address at) const {
    single_copy::RemoteAddress told = 0;
    std::memcpy(&told, address(at), sizeof told);
    return told;
  }
  Sequence* word_at(Address place) const { return reinterpret_cast<Sequence*>(address(place)); }
  Flag flag(Address place) const { return Flag(*word_at(place)); }

  // Returns where this call's stamp is stored within the ring at `place`.
  Address own_stamp(Address place) const {
    return place + sizeof(Sequence) * (stamp_.number() % stamps_kept);
  }
  static CallStamp stamp_in(Sequence& word) {
    return CallStamp::from_bits(Flag(word).load(std::memory_order_relaxed));
  }
  [[noreturn]] static void throw_calls_differ(int peer);
  Sequence wait_at(Flag word, Until until) {
    for (int looks = context_.waiting->quick_looks(); looks > 0; --looks) {
      const Sequence seen = word.load(std::memory_order_acquire);
      if (until.holds(seen)) return seen;
      // Pauses between loads, because a rank that is about to store to this cache line needs to own
      // it.
      memory::spin_pause();
    }
    return wait_longer(word, until);
  }
  Sequence wait_longer(Flag word, Until until);
  // Returns the index of the first flag that meets its condition.
  std::optional<int> find(std::span<const AwaitedFlag> awaited);

  const ProtocolContext& context_;
  Buffers buffers_;
  CallStamp stamp_;
};

}  // namespace huddle::context
