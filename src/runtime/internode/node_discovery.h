// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Set-up of a communicator over messages: ranks combine facts about themselves and find out which
// ranks share a node, in a logarithmic number of rounds. A rank stores the combined facts and 16
// bytes per node, but not the contribution of every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/internode/messages.h"
#include "runtime/memory/reduction.h"
#include "runtime/schedules/schedule.h"
#include "runtime/schedules/wire.h"
#include "runtime/team/bootstrap.h"

namespace huddle::internode {

// A bootstrap over a wire for the team of one node, used before its ranks share memory.
class NodeBootstrap {
 public:
  // Keeps references. Peers of the wire are ranks. `here` contains the ranks of this node; this
  // rank is here[place].
  NodeBootstrap(schedules::Wire& wire, std::span<const int> here, int place)
      : wire_(wire), here_(here), place_(place) {}

  int place() const { return place_; }
  int ranks() const { return static_cast<int>(here_.size()); }
  // Returns a bootstrap whose ranks are places. It refers to this object.
  team::Bootstrap bootstrap();
  // Broadcasts from the rank at place `root`.
  void bcast(std::span<std::byte> bytes, int root = 0);

 private:
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
  void run(schedules::Operation operation, int root, std::size_t block_bytes,
           const std::byte* input, std::byte* output);

  schedules::Wire& wire_;
  std::span<const int> here_;
  int place_;
};

// The part of the placement that a rank knows before it has a NodeMap.
struct RankPlaces {
  std::vector<int> starts;       // by node: number of ranks on the nodes before it; last: all
  std::vector<int> first_ranks;  // by node
  int node = 0;
  std::vector<int> here;  // the ranks of this node in ascending order
  int place = 0;          // index of this rank in `here`

  int nodes() const { return static_cast<int>(first_ranks.size()); }
  // Returns whether the ranks of each node are consecutive.
  bool are_in_order() const;
};

// The error of the lowest rank that has one.
struct FirstError {
  int rank = 0;
  team::RankError why;

  void combine(const FirstError& higher) {
    if (!why.is_any()) *this = higher;
  }
  // Throws FailureError.
  void throw_any() const {
    if (why.is_any()) team::throw_of(static_cast<std::size_t>(rank), why);
  }
};

class SetUpExchange {
 public:
  // Keeps a reference. Peers of the wire are ranks. All ranks make the same collective calls in the
  // same order, so messages between two ranks match in the order of the calls.
  SetUpExchange(schedules::Wire& wire, int rank, int ranks)
      : wire_(wire), rank_(rank), ranks_(ranks) {}

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // All following functions are collective, and throw what the wire throws.

  // Combines the facts of all ranks. fact.combine(higher) must combine a fact with that of higher
  // ranks, and must be associative.
  template <class Fact>
  requires std::is_trivially_copyable_v<Fact> Fact agree(const Fact& mine) {
    Fact all = mine;
    combine({reinterpret_cast<std::byte*>(&all), sizeof all}, combine_facts<Fact>);
    return all;
  }
  // Runs step() on every rank. If it throws on any rank, all ranks throw FailureError.
  template <class Step>
  void agree_on(const Step& step) {
    agree(FirstError{rank_, team::RankError::of(step)}).throw_any();
  }
  // Broadcasts from rank `root`.
  void bcast(std::span<std::byte> bytes, int root);

  // Finds the ranks that share this rank's node. Requires a key that is equal on the ranks of a
  // node and differs between nodes. If the ranks of a node are not consecutive, they find each
  // other by messages over `hails`, which must carry no other messages until all ranks have called
  // the next function of this object.
  RankPlaces find_places(std::uint64_t key, RankWire& hails);

  // Gathers the ranks node by node into the first half of a table for NodeMap, and completes the
  // table. Called by the first rank of each node. Works in slices, because both the sender and the
  // receiver buffer the data in transit.
  // Requires: places.place is 0; slice_bytes is equal on all ranks.
  void fill_table(const RankPlaces& places, std::span<int> table,
                  std::size_t slice_bytes = std::size_t{256} << 10);

 private:
  struct NodeCount {
    std::uint64_t key;
    int first;  // its lowest rank
    int ranks;
  };

  template <class Fact>
  static void combine_facts(void* to, const void* left, const void* right, std::size_t count,
                            void* /*context*/) {
    for (std::size_t i = 0; i < count; ++i) {
      Fact lower = fact_at<Fact>(left, i);
      lower.combine(fact_at<Fact>(right, i));
      std::memcpy(static_cast<std::byte*>(to) + i * sizeof lower, &lower, sizeof lower);
    }
  }
  // Copies a fact out of a message, which may be unaligned.
  template <class Fact>
  static Fact fact_at(const void* facts, std::size_t number) {
    Fact fact;
    std::memcpy(&fact, static_cast<const std::byte*>(facts) + number * sizeof fact, sizeof fact);
    return fact;
  }

  void combine(std::span<std::byte> fact, memory::CombineFunction* combine);
  std::vector<NodeCount> count_nodes(std::uint64_t key);
  static std::vector<NodeCount> merged(const std::vector<NodeCount>& lower,
                                       const std::vector<NodeCount>& higher);
  std::vector<int> ranks_of_node(int first, int ranks, RankWire& hails);

  schedules::Wire& wire_;
  int rank_;
  int ranks_;
};

}  // namespace huddle::internode
