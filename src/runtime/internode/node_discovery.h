// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How the ranks of a communicator that know nothing of each other agree, and find out who sits
// where: by messages, in as many rounds as their number has doublings. No rank holds what all have
// said: it holds what has come of that, and 16 bytes of each node.
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

// The ranks of one node among others, over a wire, until they share memory: what their team is made
// from.
class NodeBootstrap {
 public:
  // Keeps references. Peers of the wire are ranks; here: those of this node, of which this one is
  // at that place.
  NodeBootstrap(schedules::Wire& wire, std::span<const int> here, int place)
      : wire_(wire), here_(here), place_(place) {}

  int place() const { return place_; }
  int ranks() const { return static_cast<int>(here_.size()); }
  // Ranks are places there. It refers to this object.
  team::Bootstrap bootstrap();
  // From one place to all.
  void bcast(std::span<std::byte> bytes, int root = 0);

 private:
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
  void run(schedules::Operation operation, int root, std::size_t block_bytes,
           const std::byte* input, std::byte* output);

  schedules::Wire& wire_;
  std::span<const int> here_;
  int place_;
};

// What a rank knows of its node and of the others before there is a map.
struct Seats {
  std::vector<int> starts;       // by node: how many ranks those before have; and all
  std::vector<int> first_ranks;  // by node
  int node = 0;
  std::vector<int> here;  // the ranks of this node, rising
  int place = 0;          // this one's among them

  int nodes() const { return static_cast<int>(first_ranks.size()); }
  // Whether the ranks of each node follow each other.
  bool are_in_order() const;
};

// The trouble of the lowest rank that has any.
struct FirstTrouble {
  int rank = 0;
  team::Trouble why;

  void meet(const FirstTrouble& higher) {
    if (!why.is_any()) *this = higher;
  }
  // Throws FailureError.
  void throw_any() const {
    if (why.is_any()) team::throw_of(static_cast<std::size_t>(rank), why);
  }
};

class Meeting {
 public:
  // Keeps a reference. Peers of the wire are ranks. What is sent by it between two ranks is of one
  // meeting after the other.
  Meeting(schedules::Wire& wire, int rank, int ranks) : wire_(wire), rank_(rank), ranks_(ranks) {}

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // All that follow are collective, and throw what the wire throws.

  // What holds for all of them. fact.meet(higher): becomes what holds for its ranks and for higher
  // ones; where the brackets are makes no difference.
  template <class Fact>
  requires std::is_trivially_copyable_v<Fact> Fact agree(const Fact& mine) {
    Fact all = mine;
    join({reinterpret_cast<std::byte*>(&all), sizeof all}, join_facts<Fact>);
    return all;
  }
  // Takes the step: after it all have done it, or all throw FailureError.
  template <class Step>
  void agree_on(const Step& step) {
    agree(FirstTrouble{rank_, team::Trouble::of(step)}).throw_any();
  }
  // From one to all.
  void bcast(std::span<std::byte> bytes, int root);

  // key: equal for ranks of one node, and for no others. Ranks of a node that do not follow each
  // other find each other by `hails`, by which nothing is sent before this nor, from one node to
  // another, before all have come to the next meeting.
  Seats find_seats(std::uint64_t key, RankWire& hails);

  // Among the first ranks of all nodes: the ranks node by node, into the first half of a table for
  // NodeMap, which is then complete. In slices, since what is under way lies aside in the sender
  // and in the receiver. pre: seats.place is 0; the slices are equal everywhere.
  void fill_table(const Seats& seats, std::span<int> table,
                  std::size_t slice_bytes = std::size_t{256} << 10);

 private:
  struct NodeCount {
    std::uint64_t key;
    int first;  // its lowest rank
    int ranks;
  };

  template <class Fact>
  static void join_facts(void* to, const void* left, const void* right, std::size_t count,
                         void* /*context*/) {
    for (std::size_t i = 0; i < count; ++i) {
      Fact lower = fact_at<Fact>(left, i);
      lower.meet(fact_at<Fact>(right, i));
      std::memcpy(static_cast<std::byte*>(to) + i * sizeof lower, &lower, sizeof lower);
    }
  }
  // Of messages, which lie anywhere.
  template <class Fact>
  static Fact fact_at(const void* facts, std::size_t number) {
    Fact fact;
    std::memcpy(&fact, static_cast<const std::byte*>(facts) + number * sizeof fact, sizeof fact);
    return fact;
  }

  void join(std::span<std::byte> fact, memory::CombineFunction* combine);
  std::vector<NodeCount> count_nodes(std::uint64_t key);
  static std::vector<NodeCount> merged(const std::vector<NodeCount>& lower,
                                       const std::vector<NodeCount>& higher);
  std::vector<int> ranks_of_node(int first, int ranks, RankWire& hails);

  schedules::Wire& wire_;
  int rank_;
  int ranks_;
};

}  // namespace huddle::internode
