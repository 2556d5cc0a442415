// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The simulated machine: memory, the store buffer of each rank, and what each rank knows. Every
// operation takes effect immediately; the scheduler (execution.h) decides when to call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/checker/accesses.h"
#include "check/checker/memory.h"
#include "check/checker/store_buffer.h"
#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/reduction.h"

namespace huddle::check::checker {

// Memory order of an operation on a flag: release for stores and acquire for loads, or neither.
enum class Strength : std::uint8_t { ordered, relaxed };

// Receives a protocol's errors. fail() does not return.
class ErrorReporter {
 public:
  virtual ~ErrorReporter() = default;
  [[noreturn]] virtual void fail(const std::string& what) = 0;
  [[noreturn]] virtual void fail(const Conflict& conflict) = 0;
};

class Machine {
 public:
  Machine(Memory& memory, StoreOrder order, ErrorReporter& errors);

  void begin_execution();

  // Returns what the rank would see, without side effects.
  context::Sequence peek(int rank, context::Address flag) const;
  context::Sequence load(int rank, context::Address flag, Strength strength);
  // If `hold`, others see the store only after let_go(), or when the rank fences.
  void store(int rank, context::Address flag, context::Sequence value, Strength strength,
             bool hold);
  // If `hold`, later loads of this rank may pass its store, as on Arm; other updates may not.
  context::Sequence update(int rank, context::Address flag, context::Sequence add,
                           Strength strength, bool hold);
  void fence(int rank);
  // `unfenced`: by non-temporal stores that no fence has ordered yet.
  void copy(int rank, context::Address to, context::Address from, std::size_t n, bool unfenced);
  void copy_and_own(int rank, context::Address to, context::Address from, std::size_t n);
  void own(int rank, context::Address place, std::size_t n);
  // Orders the rank's earlier non-temporal stores before everything that follows.
  void order_callers_stores(int rank);
  // Stores the same bytes again, non-temporally. Accesses to that region are recorded from then on.
  void store_as_caller(int rank, context::Address place, std::size_t n);
  void reduce(int rank, context::Address to, context::Address left, context::Address right,
              std::size_t count, const memory::Reduction& reduction);
  // Accesses to the exposed region are recorded from then on, as in shared memory.
  void expose(int rank, context::Address at, context::Address what);
  // From then on the rank may address the exposed region of that owner.
  context::Address map_exposed(int rank, context::Address at);
  void pull(int rank, context::Address to, context::Address at, std::size_t offset, std::size_t n);
  void push(int rank, context::Address at, std::size_t offset, context::Address from,
            std::size_t n);
  // Fails if the rank may not access these bytes.
  void check_reach(int rank, context::Address place, std::size_t n) const;
  void check_flag(int rank, context::Address place) const;

  std::span<const PendingStore> pending(int rank) const { return buffer(rank).pending(); }
  bool may_be_let_go(int rank, std::size_t index) const {
    return buffer(rank).may_be_let_go(index);
  }
  void let_go(int rank, std::size_t index);
  void drain(int rank);

  // Returns a digest of everything that determines the future, besides the ranks themselves. The
  // recorded accesses are not part of it: they follow from the ranks' progress, and of two ordered
  // accesses only the later one matters, because a rank that knows it knows both.
  std::uint64_t digest() const;
  bool take_news() { return flags_.take_news(); }

 private:
  struct Core {
    explicit Core(int ranks, StoreOrder order)
        : known(2 * ranks), fenced(2 * ranks), unacquired(2 * ranks), buffer(order) {}
    Clock known;
    Clock fenced;      // known at the last fence; carried by later relaxed stores
    Clock unacquired;  // seen by relaxed loads; known after the next fence
    // A time advances with the first access after the previous one was published, so that accesses
    // without effect on others do not create new states.
    bool has_published = true;
    bool has_fenced = true;
    Time nontemporal_time = 0;
    StoreBuffer buffer;
  };

  Core& core(int rank) { return cores_[static_cast<std::size_t>(rank)]; }
  const Core& core(int rank) const { return cores_[static_cast<std::size_t>(rank)]; }
  const StoreBuffer& buffer(int rank) const { return core(rank).buffer; }
  PendingStore flag_store(int rank, context::Address flag, context::Sequence value,
                          Strength strength);
  void learn(int rank, const Clock& carried, Strength strength);
  void touch(int rank);
  void commit(const PendingStore& store);
  void commit_ready(int rank);
  void finish_updates(std::size_t byte);
  std::vector<std::byte> read(int rank, context::Address place, std::size_t n);
  void write(int rank, context::Address place, std::vector<std::byte> bytes, bool unfenced);
  context::Address what_is_exposed(int rank, context::Address at);
  void require_apart(context::Address to, context::Address from, std::size_t n) const;
  bool is_watched(context::Address place) const {
    return place.region == context::Region::shared || watched_[exposed_at(place)];
  }
  bool has_reached(int rank, context::Address place) const;
  std::size_t exposed_at(context::Address place) const {
    return static_cast<std::size_t>(place.region) * cores_.size() +
           static_cast<std::size_t>(place.owner);
  }
  void require(const std::optional<Conflict>& conflict) const {
    if (conflict) errors_.fail(*conflict);
  }

  Memory& memory_;
  ErrorReporter& errors_;
  StoreOrder order_;
  Flags flags_;
  Accesses accesses_;
  std::vector<Core> cores_;
  std::vector<bool> watched_;               // by region and rank: accesses are recorded
  std::vector<std::vector<bool>> reached_;  // by rank, then like watched_
};

}  // namespace huddle::check::checker
