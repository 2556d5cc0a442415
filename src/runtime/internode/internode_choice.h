// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The choice of the schedule by which the nodes communicate in a call: the one with the lowest
// predicted time. Predictions use integers that are equal on all ranks, so that all ranks make the
// same choice.
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

// The cost of messages between nodes. `huddle sim` uses the same figures
// (src/simulate/network/simulation.h).
struct Network {
  std::int64_t message_ns = 0;    // time of one small message
  std::int64_t ns_per_mib = 0;    // additional time per MiB
  std::uint8_t is_estimated = 1;  // 0: the network was measured
  // If a node sends and receives at the same time, the percentage of the smaller direction that is
  // added to the larger one. It does not matter whether the two peers are one node, as in a
  // pairwise exchange, or two, as in a ring. 0: full duplex, which is assumed if the machine file
  // has no measurement.
  std::uint8_t second_way_percent = 0;
  std::int64_t piece_bytes = 0;  // messages are split into pieces of this size; 0: they are not
  std::int64_t gap_ns = 0;       // minimum time between the starts of two messages of a node
  // Time per MiB if all ranks of a node send at the same time. 0: unknown; each node then has one
  // leader.
  std::int64_t node_ns_per_mib = 0;
  // Time in which a leader reduces 1 MiB of received data into its own.
  std::int64_t combining_ns_per_mib = 0;
  // Time for which one message occupies the CPU at each end. It is a part of message_ns.
  std::int64_t cpu_ns = 0;

  // Returns the costs for each of `senders` ranks of a node that all send at the same time.
  Network shared_by(int senders) const;
  bool operator==(const Network&) const = default;
};
// Returns the figures of the machine file, or generic ones if it has no network.
Network network_of(const machine::Machine& machine);

// The properties of a call that determine the choice of a schedule. The data are a number of
// elements, or one block per node.
struct Demand {
  schedules::Operation operation = schedules::Operation::barrier;
  int nodes = 1;
  int root = 0;
  std::size_t count = 0;
  std::size_t element_bytes = 1;
  const schedules::Sizes* blocks = nullptr;  // equal on all ranks; null: `count` elements
  bool equal_blocks = false;                 // all nodes have blocks of the same size
  std::string_view algorithm = {};           // used if it can handle the call; empty: the cheapest
};

// The user's choice of algorithms between nodes, which overrides predictions.
class ForcedAlgorithms {
 public:
  ForcedAlgorithms() = default;  // no algorithm is forced
  // Parses "bcast:chain,allreduce:halving". Throws InputError if the syntax is wrong.
  explicit ForcedAlgorithms(std::string_view text) : choices_(forced_choices(text)) {}

  // Returns the name of the forced algorithm; empty if none is forced.
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

// Returns whether more segments, blocks, concurrent peers or leaders are worth using: they must
// save at least 1/32 of the predicted time, because each additional message may be delayed by a
// late rank, which the figures do not include.
constexpr bool gains(std::int64_t ns, std::int64_t than_ns) { return ns <= than_ns - than_ns / 32; }

// Returns the predicted time of a schedule if all nodes start each round at the same time.
std::int64_t predicted_ns(const schedules::Schedule& schedule, const schedules::Sizes& sizes,
                          const Network& network);
// Returns the predicted time of an all-to-all in which each rank sends to each other rank directly,
// as an MPI without knowledge of nodes does. `bytes` is the size of a block.
std::int64_t direct_alltoall_ns(int ranks, int ranks_on_node, std::size_t bytes,
                                const Network& network);
// Returns the time to copy `bytes` within a node at a generic rate, which was not measured.
std::int64_t copying_ns(std::size_t bytes);
// Returns the cheapest schedule among the algorithms that keep the reduction order
// (schedules/reduction_tree.h), or the cheapest one of the requested algorithm if that can handle
// the call.
Chosen cheapest(const Demand& demand, const Network& network);

}  // namespace huddle::internode
