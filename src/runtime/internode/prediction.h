// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a collective over several nodes is predicted to take, a part in the nodes, a schedule
// between them and a part in the nodes again, and what the MPI's own was measured to take: in whole
// numbers that are equal on all ranks, so that all come to the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/machine.h"
#include "runtime/internode/internode_choice.h"
#include "runtime/internode/node_map.h"
#include "runtime/select/operation.h"

namespace huddle::internode {

// Returns the request whose time a node's team predicts for a part of a collective. Elements of
// reductions are doubles.
constexpr select::Request request_of_part(select::Operation part, std::size_t bytes) {
  return {part, bytes, select::reduces(part) ? sizeof(double) : 1};
}
constexpr select::Request request_of_phase(select::BarrierPhase phase) {
  return {.operation = select::Operation::barrier, .barrier_phase = phase};
}

// Predicted times of the parts that a node's team carries out, each on its slowest node: those of
// data at a few sizes, and the two phases of a barrier.
class NodeTimes {
 public:
  static constexpr std::array parts = {
      select::Operation::reduce,  select::Operation::bcast,          select::Operation::gather,
      select::Operation::scatter, select::Operation::reduce_scatter, select::Operation::allgatherv};
  static constexpr std::array<std::int64_t, 9> sizes = {64,      256,     1 << 10, 1 << 12, 1 << 14,
                                                        1 << 16, 1 << 18, 1 << 20, 1 << 22};

  // Predict: (const select::Request&) to nanoseconds.
  template <typename Predict>
  static NodeTimes of(const Predict& predict) {
    NodeTimes times;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        times.ns_[part][i] =
            predict(request_of_part(parts[part], static_cast<std::size_t>(sizes[i])));
      }
    }
    times.gather_phase_ns_ = predict(request_of_phase(select::BarrierPhase::gather));
    times.release_phase_ns_ = predict(request_of_phase(select::BarrierPhase::release));
    return times;
  }
  void become_slower_of(const NodeTimes& other);
  // Straight lines between the sizes; beyond the last at its rate. pre: one of `parts`.
  std::int64_t ns_at(select::Operation part, std::size_t bytes) const;
  std::int64_t barrier_ns(select::BarrierPhase phase) const;

 private:
  std::array<std::array<std::int64_t, sizes.size()>, parts.size()> ns_{};
  std::int64_t gather_phase_ns_ = 0;
  std::int64_t release_phase_ns_ = 0;
};

// What the MPI's own collectives were measured to take.
class MpiTimes {
 public:
  struct Point {
    std::int64_t operation = 0;  // a select::Operation
    std::int64_t bytes = 0;
    std::int64_t ns = 0;
  };

  MpiTimes() = default;
  // Of ranks that sit so, under this MPI, as a machine file has it.
  MpiTimes(const machine::Machine& machine, const std::string& mpi, const NodeMap& map);
  explicit MpiTimes(std::vector<Point> points) : points_(std::move(points)) {}

  const std::vector<Point>& points() const { return points_; }
  // Between what was measured; below the least as that, nothing beyond the largest.
  std::optional<std::int64_t> ns_at(select::Operation operation, std::size_t bytes) const;

 private:
  std::vector<Point> points_;  // sizes of an operation rise
};

// A part of a collective that is carried out in each node.
struct NodePhase {
  select::Operation operation = select::Operation::barrier;
  std::size_t bytes = 0;  // as a request has them
  std::int64_t ns = 0;
  select::BarrierPhase barrier_phase = select::BarrierPhase::both;

  select::Request request() const;
};

// Of several segments, all three are of one, the largest.
struct Prediction {
  std::optional<NodePhase> before;
  Chosen between;  // of one leader's slice, the largest
  std::optional<NodePhase> after;
  Sharing sharing = {};
  // Of what is between nodes, what a leader is busy with, so that its node has to wait for it.
  std::int64_t joining_ns = 0;

  // Segments follow each other: while one is between nodes, the nodes do their parts of others.
  std::int64_t ns() const;
};

// What goes between nodes, of all of them together.
struct Sent {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

// How an operation goes between nodes.
enum class Way : std::uint8_t {
  schedule,  // between one rank of each: all ranks know how much moves, and it is predicted
  pairs,     // only the two of a pair know how much they exchange
  prefix,    // from node to node, where each node's ranks follow each other
};
constexpr Way way_between_nodes(select::Operation operation) {
  switch (operation) {
    case select::Operation::barrier:
    case select::Operation::bcast:
    case select::Operation::reduce:
    case select::Operation::allreduce:
    case select::Operation::allgather:
    case select::Operation::allgatherv:
    case select::Operation::alltoall:
    case select::Operation::gather:
    case select::Operation::scatter:
    case select::Operation::reduce_scatter:
    case select::Operation::reduce_scatter_block:
      return Way::schedule;
    case select::Operation::alltoallv:
    case select::Operation::alltoallw:
    case select::Operation::gatherv:
    case select::Operation::scatterv:
      return Way::pairs;
    case select::Operation::scan:
    case select::Operation::exscan:
      return Way::prefix;
  }
  return Way::schedule;
}

// What such a call is between the nodes. Of what pairs alone know there is none: an all-to-all.
constexpr schedules::Operation schedule_of(select::Operation operation) {
  switch (operation) {
    case select::Operation::barrier:
      return schedules::Operation::barrier;
    case select::Operation::bcast:
      return schedules::Operation::bcast;
    case select::Operation::reduce:
      return schedules::Operation::reduce;
    case select::Operation::allreduce:
      return schedules::Operation::allreduce;
    case select::Operation::allgather:
    case select::Operation::allgatherv:
      return schedules::Operation::allgather;
    case select::Operation::gather:
    case select::Operation::gatherv:
      return schedules::Operation::gather;
    case select::Operation::scatter:
    case select::Operation::scatterv:
      return schedules::Operation::scatter;
    case select::Operation::reduce_scatter:
    case select::Operation::reduce_scatter_block:
      return schedules::Operation::reduce_scatter;
    case select::Operation::alltoall:
    case select::Operation::alltoallv:
    case select::Operation::alltoallw:
      return schedules::Operation::alltoall;
    case select::Operation::scan:
    case select::Operation::exscan:
      return schedules::Operation::exscan;
  }
  return schedules::Operation::barrier;
}

// An all-to-all is chosen as if every pair of nodes exchanged as much as the largest two: so much.
schedules::Sizes largest_pair(const NodeMap& map, std::size_t bytes);
// pre: those are the sizes.
Demand alltoall_demand(const NodeMap& map, std::size_t bytes, const schedules::Sizes& largest);

// Why the MPI's own is taken where nobody has measured it; empty: it is not. bytes: as a request
// has them. Equal on all ranks.
std::string_view why_left_unmeasured(select::Operation operation, std::size_t bytes,
                                     const NodeMap& map, const Network& network);

// Whether several leaders may share its data.
constexpr bool can_share(select::Operation operation) {
  return operation == select::Operation::allreduce || operation == select::Operation::bcast;
}

// Both: bytes: as a request has them (select/operation.h); of blocks that differ, their mean. The
// first rank is the root. pre: it goes by a schedule.
// Shared out so. pre: where that is not by one leader at once, can_share(), and each node has so
// many ranks.
Prediction predict(select::Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times, const Sharing& sharing,
                   const ForcedAlgorithms& forced = {});
// Shared out as is predicted to take least, where that gains clearly; among equals by the fewest.
// By one leader at once where nobody knows what a node's ranks send together.
Prediction predict(select::Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times,
                   const ForcedAlgorithms& forced = {});
// Shared out as is wanted, where it can be and anything is.
Prediction predict(select::Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times,
                   const std::optional<Sharing>& wanted, const ForcedAlgorithms& forced);
Sent sent_by(const Prediction& prediction);

}  // namespace huddle::internode
