// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The simulated machine: memory, the store buffer of each rank, and a vector clock of the accesses
// that each rank knows of. Every operation takes effect immediately; the scheduler
// (checked_execution.h) decides when to call it.
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

// Memory order of an operation on a flag. `ordered` is acquire for loads, release for stores, and
// both for updates; `relaxed` is neither.
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

  // Returns the value that the rank would load, without side effects.
  context::Sequence peek(int rank, context::Address flag) const;
  context::Sequence load(int rank, context::Address flag, Strength strength);
  // If `hold` is true, the store stays in the store buffer, where other ranks do not see it, until
  // let_go() or the rank's next fence or update.
  void store(int rank, context::Address flag, context::Sequence value, Strength strength,
             bool hold);
  // Adds `add` and returns the previous value. If `hold` is true, the store of the update stays in
  // the store buffer, so that later loads of this rank overtake it, as on Arm. Other updates of the
  // flag do not overtake it.
  context::Sequence update(int rank, context::Address flag, context::Sequence add,
                           Strength strength, bool hold);
  void fence(int rank);
  // If `unfenced` is true, the copy uses non-temporal stores that no fence has ordered yet.
  void copy(int rank, context::Address to, context::Address from, std::size_t n, bool unfenced);
  void copy_and_own(int rank, context::Address to, context::Address from, std::size_t n);
  void own(int rank, context::Address place, std::size_t n);
  // Orders the rank's earlier non-temporal stores before everything that follows.
  void order_callers_stores(int rank);
  // Stores the bytes at `place` again by unfenced non-temporal stores, as a protocol's caller may
  // have done. From then on, accesses to that region are recorded.
  void store_as_caller(int rank, context::Address place, std::size_t n);
  void reduce(int rank, context::Address to, context::Address left, context::Address right,
              std::size_t count, const memory::Reduction& reduction);
  // Stores the address `what` at `at`. From then on, accesses to the exposed region are recorded,
  // as in shared memory.
  void expose(int rank, context::Address at, context::Address what);
  // Returns the address that is exposed at `at`. From then on, the rank may access that region of
  // its owner directly.
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

  // Returns a digest of the state that determines the rest of the execution, except for the ranks'
  // own state. The recorded accesses are not part of it: they follow from the ranks' progress, and
  // of two ordered accesses only the later one matters, because a rank that knows of it knows of
  // both.
  std::uint64_t digest() const;
  bool take_news() { return flags_.take_news(); }

 private:
  struct Core {
    explicit Core(int ranks, StoreOrder order)
        : known(2 * ranks), fenced(2 * ranks), unacquired(2 * ranks), buffer(order) {}
    Clock known;
    Clock fenced;      // known at the last fence; carried by later relaxed stores
    Clock unacquired;  // seen by relaxed loads; known after the next fence
    // A rank's time advances at its first access after it has published, and not at every access,
    // so that accesses that no other rank can observe do not create new states.
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
    return place.region() == context::Region::shared || watched_[exposed_at(place)];
  }
  bool has_reached(int rank, context::Address place) const;
  std::size_t exposed_at(context::Address place) const {
    return static_cast<std::size_t>(place.region()) * cores_.size() +
           static_cast<std::size_t>(place.owner());
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
  std::vector<bool> watched_;               // by region and rank: whether accesses are recorded
  std::vector<std::vector<bool>> reached_;  // by rank, then as watched_: whether it was mapped
};

}  // namespace huddle::check::checker
