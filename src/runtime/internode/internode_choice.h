// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which schedule carries a call between the nodes: the one that is predicted to take least, by
// figures that are equal on all ranks, in whole numbers, so that all choose alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "common/forced_choice.h"
#include "model/machine/machine.h"
#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/schedule.h"

namespace huddle::internode {

// The cost of messages from node to node. `huddle sim` counts by the same figures
// (sim/simulation.h).
struct Network {
  std::int64_t message_ns = 0;    // one message that is almost empty
  std::int64_t ns_per_mib = 0;    // added for its bytes
  std::uint8_t is_estimated = 1;  // 0: it was measured
  // If a node sends and receives at the same time, the percentage of the smaller direction that is
  // added to the larger one. It does not matter whether the two peers are one node, as in an
  // exchange in pairs, or two, as in a ring. 0: both directions at once, as in a machine file that
  // has no measurement of it.
  std::uint8_t second_way_percent = 0;
  std::int64_t piece_bytes = 0;  // of messages that go in pieces; 0: they go whole
  std::int64_t gap_ns = 0;       // between the starts of two messages of a node
  // For the bytes of all ranks of a node that send together. 0: not known, and each node has one
  // leader.
  std::int64_t node_ns_per_mib = 0;
  // The time in which the leader reduces what it received into what it has.
  std::int64_t joining_ns_per_mib = 0;
  // The time for which one message occupies the processor at each end, part of message_ns.
  std::int64_t cpu_ns = 0;

  // The network as each of that many ranks of a node finds it while all of them send.
  Network shared_by(int senders) const;
  bool operator==(const Network&) const = default;
};
// Of a machine file, or round figures where it has no network.
Network network_of(const machine::Machine& machine);

// What a call is to a schedule: so many elements, or a block of each node.
struct Demand {
  schedules::Operation operation = schedules::Operation::barrier;
  int nodes = 1;
  int root = 0;
  std::size_t count = 0;
  std::size_t element_bytes = 1;
  const schedules::Sizes* blocks = nullptr;  // equal on all ranks; null: elements
  bool equal_blocks = false;                 // all nodes' are as large
  std::string_view algorithm = {};           // that is to serve it if it can; empty: the cheapest
};

// Algorithms that somebody wants run between nodes, whatever is predicted.
class ForcedAlgorithms {
 public:
  ForcedAlgorithms() = default;  // none
  // "bcast:chain,allreduce:halving". Throws InputError for what is written otherwise.
  explicit ForcedAlgorithms(std::string_view text) : choices_(forced_choices(text)) {}

  // Its name; empty: whichever is the cheapest.
  std::string_view for_operation(schedules::Operation operation) const;

 private:
  std::vector<ForcedChoice> choices_;
};

struct Chosen {
  std::unique_ptr<schedules::Schedule> schedule;
  schedules::Sizes sizes = schedules::Sizes::equal(0);
  std::string_view algorithm;  // "doubling"
  std::int64_t ns = 0;
};

// More segments, blocks, peers at once or leaders are taken where they are predicted to gain a
// thirty-second at least: each message is exposed to what no figure here tells, a rank that is
// late.
constexpr bool gains(std::int64_t ns, std::int64_t than_ns) { return ns <= than_ns - than_ns / 32; }

// As if all nodes began each round together.
std::int64_t predicted_ns(const schedules::Schedule& schedule, const schedules::Sizes& sizes,
                          const Network& network);
// Of an all-to-all whose ranks send to each by themselves, as an MPI does that knows no nodes: for
// a node with so many ranks, blocks of so many bytes.
std::int64_t direct_alltoall_ns(int ranks, int ranks_on_node, std::size_t bytes,
                                const Network& network);
// What it takes to copy so much within a node: a round figure, nobody has measured it.
std::int64_t copying_ns(std::size_t bytes);
// Of those that keep to the association (net/association.h), by the algorithm that is asked for
// where that can serve.
Chosen cheapest(const Demand& demand, const Network& network);

}  // namespace huddle::internode
