// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Predicted times of collectives over several nodes (a part in each node, a schedule between the
// nodes, and another part in each node), and measured times of the MPI's own collectives. All
// numbers are integers that are equal on all ranks, so that all ranks make the same choice.
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

// Predicted times of the parts that a node's team carries out, each on the node where it is
// slowest: of collectives at a few sizes, and of the two phases of a barrier.
class NodeTimes {
 public:
  static constexpr std::array parts = {
      select::Operation::reduce,  select::Operation::bcast,          select::Operation::gather,
      select::Operation::scatter, select::Operation::reduce_scatter, select::Operation::allgatherv};
  static constexpr std::array<std::int64_t, 9> sizes = {64,      256,     1 << 10, 1 << 12, 1 << 14,
                                                        1 << 16, 1 << 18, 1 << 20, 1 << 22};

  // predict(const select::Request&) returns the predicted time of a request in ns.
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
  // Interpolates linearly between the sizes, and extrapolates linearly beyond the last one.
  // Requires: `part` is one of `parts`.
  std::int64_t ns_at(select::Operation part, std::size_t bytes) const;
  std::int64_t barrier_ns(select::BarrierPhase phase) const;

 private:
  std::array<std::array<std::int64_t, sizes.size()>, parts.size()> ns_{};
  std::int64_t gather_phase_ns_ = 0;
  std::int64_t release_phase_ns_ = 0;
};

// Measured times of the MPI's own collectives.
class MpiTimes {
 public:
  struct Point {
    std::int64_t operation = 0;  // a select::Operation
    std::int64_t bytes = 0;
    std::int64_t ns = 0;
  };

  MpiTimes() = default;
  // Selects the times in a machine file that were measured with this MPI and this placement.
  MpiTimes(const machine::Machine& machine, const std::string& mpi, const NodeMap& map);
  explicit MpiTimes(std::vector<Point> points) : points_(std::move(points)) {}

  const std::vector<Point>& points() const { return points_; }
  // Interpolates between measured sizes. Returns the time of the smallest measured size for smaller
  // sizes, and nothing for sizes above the largest.
  std::optional<std::int64_t> ns_at(select::Operation operation, std::size_t bytes) const;

 private:
  std::vector<Point> points_;  // ascending sizes for each operation
};

// A part of a collective that each node carries out.
struct NodePhase {
  select::Operation operation = select::Operation::barrier;
  std::size_t bytes = 0;  // as in a Request
  std::int64_t ns = 0;
  select::BarrierPhase barrier_phase = select::BarrierPhase::both;

  select::Request request() const;
};

// With several segments, `before`, `between` and `after` are those of the largest segment.
struct Prediction {
  std::optional<NodePhase> before;
  Chosen between;  // of the largest slice of a leader
  std::optional<NodePhase> after;
  Sharing sharing = {};
  // The part of `between` in which a leader reduces, so that the other ranks of its node wait for
  // it.
  std::int64_t joining_ns = 0;

  // Returns the total time. Segments are pipelined: the nodes process some while another one is
  // sent between nodes.
  std::int64_t ns() const;
};

// Messages between nodes, summed over all nodes.
struct Sent {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

// The communication pattern of an operation between nodes.
enum class Way : std::uint8_t {
  schedule,  // between leaders; all ranks know the sizes, so times can be predicted
  pairs,     // between pairs of ranks, which alone know the sizes of their blocks
  prefix,    // from node to node, if the ranks of each node are consecutive
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

// Returns the operation that the nodes carry out between each other. alltoallv and alltoallw map to
// an all-to-all.
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

// Returns the sizes for which the schedule of an all-to-all is chosen: every pair of nodes is
// assumed to exchange the data of two nodes of the largest size.
schedules::Sizes largest_pair(const NodeMap& map, std::size_t bytes);
// Requires: `largest` is the result of largest_pair().
Demand alltoall_demand(const NodeMap& map, std::size_t bytes, const schedules::Sizes& largest);

// Returns why the call falls back to the MPI if the MPI has not been measured; empty if the call
// does not fall back. `bytes` is the size of a Request. Equal on all ranks.
std::string_view unmeasured_fallback_reason(select::Operation operation, std::size_t bytes,
                                            const NodeMap& map, const Network& network);

// Returns whether several leaders can share the data of the operation.
constexpr bool can_share(select::Operation operation) {
  return operation == select::Operation::allreduce || operation == select::Operation::bcast;
}

// In the following functions `bytes` is the size of a Request (select/operation.h), or the mean
// size of blocks that differ. The first rank is the root.
// Requires: the operation uses a schedule.
// Predicts a call with the given sharing.
// Requires: can_share() and at least sharing.leaders ranks on each node, unless there is one leader
// and one segment.
Prediction predict(select::Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times, const Sharing& sharing,
                   const ForcedAlgorithms& forced = {});
// Predicts a call with the best sharing, if that is clearly faster than none; among equals, with
// the fewest leaders and segments. Uses one leader and one segment if the bandwidth of a whole node
// is unknown.
Prediction predict(select::Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times,
                   const ForcedAlgorithms& forced = {});
// Uses the sharing `wanted` if there is one and the operation can be shared.
Prediction predict(select::Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times,
                   const std::optional<Sharing>& wanted, const ForcedAlgorithms& forced);
Sent sent_by(const Prediction& prediction);

}  // namespace huddle::internode
