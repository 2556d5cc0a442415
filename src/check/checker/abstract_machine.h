// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine that the checker simulates: memory, the store buffer of each rank, and what each rank
// knows. Every operation here is done at once; when it is done is the scheduler's business.
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

// How strong an operation on a flag is: release when it stores, acquire when it loads; or neither.
enum class Strength : std::uint8_t { ordered, relaxed };

// Whoever is told of a protocol's errors. Does not come back.
class Judge {
 public:
  virtual ~Judge() = default;
  [[noreturn]] virtual void fail(const std::string& what) = 0;
  [[noreturn]] virtual void fail(const Conflict& conflict) = 0;
};

class Machine {
 public:
  Machine(Memory& memory, StoreOrder order, Judge& judge);

  void begin_execution();

  // What the rank would see, without seeing it.
  context::Sequence peek(int rank, context::Address flag) const;
  context::Sequence load(int rank, context::Address flag, Strength strength);
  // Held: the others see it when let_go() is called, or when the rank fences.
  void store(int rank, context::Address flag, context::Sequence value, Strength strength,
             bool hold);
  // Held: later loads of this rank pass the store of it, as on Arm; other updates do not.
  context::Sequence update(int rank, context::Address flag, context::Sequence add,
                           Strength strength, bool hold);
  void fence(int rank);
  // Unfenced: non-temporal stores that nothing has ordered yet.
  void copy(int rank, context::Address to, context::Address from, std::size_t n, bool unfenced);
  void take(int rank, context::Address to, context::Address from, std::size_t n);
  void keep(int rank, context::Address place, std::size_t n);
  // What was stored non-temporally is before all that follows.
  void order_callers_stores(int rank);
  // The same bytes once more, non-temporally. Who touches what is of that region and rank is noted
  // from then on.
  void store_as_caller(int rank, context::Address place, std::size_t n);
  void reduce(int rank, context::Address to, context::Address left, context::Address right,
              std::size_t count, const memory::Reduction& reduction);
  // From then on whoever touches what is of that region and rank is noted, like in shared memory.
  void expose(int rank, context::Address at, context::Address what);
  // From then on the rank may name what is of that region and owner.
  context::Address reach(int rank, context::Address at);
  void pull(int rank, context::Address to, context::Address at, std::size_t offset, std::size_t n);
  void push(int rank, context::Address at, std::size_t offset, context::Address from,
            std::size_t n);
  // Fails where the rank may not use these bytes.
  void check_reach(int rank, context::Address place, std::size_t n) const;
  void check_flag(int rank, context::Address place) const;

  std::span<const PendingStore> pending(int rank) const { return buffer(rank).pending(); }
  bool may_be_let_go(int rank, std::size_t index) const {
    return buffer(rank).may_be_let_go(index);
  }
  void let_go(int rank, std::size_t index);
  void drain(int rank);

  // Of everything that what happens from here on depends on, besides the ranks themselves. Who
  // touched which bytes is no part of it: that follows from how far each rank is; and of two
  // accesses in order only the later one matters, for whoever knows of it knows of both.
  std::uint64_t digest() const;
  bool take_news() { return flags_.take_news(); }

 private:
  struct Core {
    explicit Core(int ranks, StoreOrder order)
        : known(2 * ranks), fenced(2 * ranks), unacquired(2 * ranks), buffer(order) {}
    Clock known;
    Clock fenced;      // known at the last fence: what a relaxed store after it carries
    Clock unacquired;  // carried by what relaxed loads saw: known after the next fence
    // Times move on with the first access after one was published: what changes nothing for others
    // makes no new state.
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
    if (conflict) judge_.fail(*conflict);
  }

  Memory& memory_;
  Judge& judge_;
  StoreOrder order_;
  Flags flags_;
  Accesses accesses_;
  std::vector<Core> cores_;
  std::vector<bool> watched_;               // by region and rank: who touches it is noted
  std::vector<std::vector<bool>> reached_;  // the same of each rank
};

}  // namespace huddle::check::checker
