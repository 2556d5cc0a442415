// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/prediction.h"

#include <algorithm>
#include <cmath>

#include "runtime/internode/node_map.h"

namespace huddle::internode {
namespace {

using select::Operation;

// Interpolates or extrapolates linearly through two points. The result is at least low_ns.
std::int64_t on_line(std::int64_t bytes, std::int64_t low, std::int64_t high, std::int64_t low_ns,
                     std::int64_t high_ns) {
  const auto above = static_cast<double>(bytes - low) / static_cast<double>(high - low);
  const std::int64_t more_ns = std::llround(above * static_cast<double>(high_ns - low_ns));
  return std::max(low_ns, low_ns + more_ns);
}

NodePhase phase(const NodeTimes& times, Operation operation, std::size_t bytes) {
  return {operation, bytes, times.ns_at(operation, bytes)};
}

NodePhase barrier_phase(const NodeTimes& times, select::BarrierPhase phase) {
  return {Operation::barrier, 0, times.barrier_ns(phase), phase};
}

// Returns the sizes of the nodes' blocks, which contain one block per rank.
schedules::Sizes blocks_by_node(const NodeMap& map, std::size_t bytes) {
  return NodeOrder(map, bytes).sizes();
}

}  // namespace

schedules::Sizes largest_pair(const NodeMap& map, std::size_t bytes) {
  const auto most = static_cast<std::size_t>(map.most_ranks_on_a_node());
  return schedules::Sizes::equal(bytes * most * most);
}

Demand alltoall_demand(const NodeMap& map, std::size_t bytes, const schedules::Sizes& largest) {
  const bool all_alike = map.most_ranks_on_a_node() * map.nodes() == map.ranks();
  return {schedules::Operation::alltoall, map.nodes(), 0, bytes, 1, &largest, all_alike};
}

void NodeTimes::become_slower_of(const NodeTimes& other) {
  for (std::size_t part = 0; part < ns_.size(); ++part) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ns_[part][i] = std::max(ns_[part][i], other.ns_[part][i]);
    }
  }
  gather_phase_ns_ = std::max(gather_phase_ns_, other.gather_phase_ns_);
  release_phase_ns_ = std::max(release_phase_ns_, other.release_phase_ns_);
}

std::int64_t NodeTimes::ns_at(Operation part, std::size_t bytes) const {
  const auto number = std::find(parts.begin(), parts.end(), part) - parts.begin();
  const auto& ns = ns_[static_cast<std::size_t>(number)];
  const auto wanted = static_cast<std::int64_t>(bytes);
  if (wanted <= sizes.front()) return ns.front();
  std::size_t above = 1;
  while (above + 1 < sizes.size() && sizes[above] < wanted) ++above;
  return on_line(wanted, sizes[above - 1], sizes[above], ns[above - 1], ns[above]);
}

std::int64_t NodeTimes::barrier_ns(select::BarrierPhase phase) const {
  switch (phase) {
    case select::BarrierPhase::both:
      return gather_phase_ns_ + release_phase_ns_;
    case select::BarrierPhase::gather:
      return gather_phase_ns_;
    case select::BarrierPhase::release:
      return release_phase_ns_;
  }
  return 0;
}

select::Request NodePhase::request() const {
  return operation == Operation::barrier ? request_of_phase(barrier_phase)
                                         : request_of_part(operation, bytes);
}

MpiTimes::MpiTimes(const machine::Machine& machine, const std::string& mpi, const NodeMap& map) {
  for (const machine::MpiCollective& collective : machine.mpi_collectives) {
    const bool is_like_this = collective.mpi == mpi && collective.hosts == map.nodes() &&
                              collective.ranks == map.ranks() &&
                              collective.in_order == map.is_in_order();
    const auto operation = select::operation_named(collective.operation);
    if (!is_like_this || !operation) continue;
    for (std::size_t i = 0; i < collective.curve.bytes.size(); ++i) {
      points_.push_back({static_cast<std::int64_t>(*operation),
                         std::llround(collective.curve.bytes[i]),
                         std::llround(collective.curve.ns[i])});
    }
  }
}

std::optional<std::int64_t> MpiTimes::ns_at(Operation operation, std::size_t bytes) const {
  const auto wanted = static_cast<std::int64_t>(bytes);
  const Point* below = nullptr;
  for (const Point& point : points_) {
    if (point.operation != static_cast<std::int64_t>(operation)) continue;
    if (point.bytes >= wanted) {
      if (below == nullptr || point.bytes == wanted) return point.ns;
      return on_line(wanted, below->bytes, point.bytes, below->ns, point.ns);
    }
    below = &point;
  }
  return std::nullopt;
}

std::int64_t Prediction::ns() const {
  const std::int64_t before_ns = before ? before->ns : 0;
  const std::int64_t after_ns = after ? after->ns : 0;
  const std::int64_t further_ns = std::max(before_ns + after_ns + joining_ns, between.ns);
  return before_ns + between.ns + after_ns + (sharing.segments - 1) * further_ns;
}

namespace {

// Sharing must save at least one tenth of the time with one leader and one segment. Half of the
// predictions had a larger error (docs/design/inter-node-collectives.md), and a smaller gain does
// not justify more messages.
constexpr std::int64_t least_gain_divisor = 10;

// Returns the cheapest schedule for the largest slice of a leader.
Chosen chosen_for_slice(schedules::Operation operation, std::size_t bytes, const NodeMap& map,
                        const Network& network, int leaders, const ForcedAlgorithms& forced) {
  const auto slices = static_cast<std::size_t>(leaders);
  Demand demand{operation, map.nodes(), 0, (bytes + slices - 1) / slices, 1};
  demand.algorithm = forced.for_operation(operation);
  return cheapest(demand, network.shared_by(leaders));
}

// Only leaders reduce slices, or receive them from a root; the predicted time is that of a call in
// which all ranks of the node have slices of that size. At the end all ranks gather all data.
Prediction predict_shared(Operation operation, std::size_t bytes, const NodeMap& map,
                          const Network& network, const NodeTimes& times, const Sharing& sharing,
                          const ForcedAlgorithms& forced) {
  const auto most = static_cast<std::size_t>(map.most_ranks_on_a_node());
  const auto leaders = static_cast<std::size_t>(sharing.leaders);
  const std::size_t slice = (bytes + leaders - 1) / leaders;
  const NodePhase after = phase(times, Operation::allgatherv, (bytes + most - 1) / most);
  if (operation == Operation::bcast) {
    Prediction bcast{
        phase(times, Operation::scatter, slice),
        chosen_for_slice(schedules::Operation::bcast, bytes, map, network, sharing.leaders, forced),
        after, sharing};
    // The root broadcasts all data to its own node.
    bcast.after->ns = std::max(after.ns, times.ns_at(Operation::bcast, bytes));
    return bcast;
  }
  const NodePhase before{Operation::reduce_scatter, bytes,
                         times.ns_at(Operation::reduce_scatter, slice * most)};
  return {before,
          chosen_for_slice(schedules::Operation::allreduce, bytes, map, network, sharing.leaders,
                           forced),
          after, sharing};
}

}  // namespace

Prediction predict(Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times,
                   const ForcedAlgorithms& forced) {
  Prediction plain = predict(operation, bytes, map, network, node_times, Sharing{}, forced);
  if (!can_share(operation) || network.node_ns_per_mib == 0 || map.nodes() == 1) return plain;
  // With more leaders the parts inside the nodes take less time, but a network card has to start
  // more messages. Starts with the maximum and halves the number as long as that saves time.
  std::optional<Prediction> shared;
  for (int leaders = Leaders::most(map); leaders > 1; leaders /= 2) {
    Prediction fewer = predict(operation, bytes, map, network, node_times, {leaders}, forced);
    if (shared && fewer.ns() > shared->ns()) break;
    shared = std::move(fewer);
  }
  if (shared && shared->ns() >= plain.ns()) shared.reset();
  // Doubles the number of segments as long as that saves enough time.
  Sharing sharing = shared ? shared->sharing : plain.sharing;
  while (static_cast<std::size_t>(sharing.segments) <= bytes) {
    sharing.segments *= 2;
    Prediction more = predict(operation, bytes, map, network, node_times, sharing, forced);
    if (!gains(more.ns(), shared ? shared->ns() : plain.ns())) break;
    shared = std::move(more);
  }
  const std::int64_t least_gain_ns = plain.ns() / least_gain_divisor;
  const bool is_worth_it = shared && shared->ns() <= plain.ns() - least_gain_ns;
  return is_worth_it ? std::move(*shared) : std::move(plain);
}

Prediction predict(Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times,
                   const std::optional<Sharing>& wanted, const ForcedAlgorithms& forced) {
  if (!wanted || !can_share(operation)) {
    return predict(operation, bytes, map, network, node_times, forced);
  }
  return predict(operation, bytes, map, network, node_times, shared_on(map, *wanted), forced);
}

Prediction predict(Operation operation, std::size_t bytes, const NodeMap& map,
                   const Network& network, const NodeTimes& node_times, const Sharing& sharing,
                   const ForcedAlgorithms& forced) {
  if (sharing.segments > 1) {
    const auto segments = static_cast<std::size_t>(sharing.segments);
    Prediction prediction = predict(operation, (bytes + segments - 1) / segments, map, network,
                                    node_times, Sharing{sharing.leaders}, forced);
    prediction.sharing = sharing;
    Network only_joins;
    only_joins.combining_ns_per_mib = network.combining_ns_per_mib;
    prediction.joining_ns =
        predicted_ns(*prediction.between.schedule, prediction.between.sizes, only_joins);
    return prediction;
  }
  if (sharing.leaders > 1) {
    return predict_shared(operation, bytes, map, network, node_times, sharing, forced);
  }
  const auto ranks = static_cast<std::size_t>(map.ranks());
  const auto in_node = [&](Operation part, std::size_t of_part) {
    return phase(node_times, part, of_part);
  };
  const auto chosen_for = [&](Demand demand) {
    demand.algorithm = forced.for_operation(demand.operation);
    return cheapest(demand, network);
  };
  const auto chosen = [&](schedules::Operation between, std::size_t count,
                          const schedules::Sizes* blocks = nullptr) {
    return chosen_for({between, map.nodes(), 0, count, 1, blocks});
  };
  switch (operation) {
    case Operation::barrier:
      return {barrier_phase(node_times, select::BarrierPhase::gather),
              chosen(schedules::Operation::barrier, 0),
              barrier_phase(node_times, select::BarrierPhase::release)};
    case Operation::bcast:
      return {{}, chosen(schedules::Operation::bcast, bytes), in_node(Operation::bcast, bytes)};
    case Operation::reduce:
      return {in_node(Operation::reduce, bytes), chosen(schedules::Operation::reduce, bytes), {}};
    case Operation::allreduce:
      return {in_node(Operation::reduce, bytes), chosen(schedules::Operation::allreduce, bytes),
              in_node(Operation::bcast, bytes)};
    case Operation::allgather:
    case Operation::allgatherv: {
      const schedules::Sizes blocks = blocks_by_node(map, bytes);
      return {in_node(Operation::gather, bytes),
              chosen(schedules::Operation::allgather, ranks * bytes, &blocks),
              in_node(Operation::bcast, ranks * bytes)};
    }
    case Operation::gather: {
      const schedules::Sizes blocks = blocks_by_node(map, bytes);
      return {in_node(Operation::gather, bytes),
              chosen(schedules::Operation::gather, ranks * bytes, &blocks),
              {}};
    }
    case Operation::scatter: {
      const schedules::Sizes blocks = blocks_by_node(map, bytes);
      return {{},
              chosen(schedules::Operation::scatter, ranks * bytes, &blocks),
              in_node(Operation::scatter, bytes)};
    }
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block: {
      const schedules::Sizes blocks = blocks_by_node(map, bytes / ranks);
      return {in_node(Operation::reduce, bytes),
              chosen(schedules::Operation::reduce_scatter, bytes, &blocks),
              in_node(Operation::scatter, bytes / ranks)};
    }
    case Operation::alltoall: {
      const auto most = static_cast<std::size_t>(map.most_ranks_on_a_node());
      const schedules::Sizes largest = largest_pair(map, bytes);
      NodePhase before = in_node(Operation::gather, bytes * ranks);
      NodePhase after = in_node(Operation::scatter, bytes * ranks);
      // Each node reorders its data before and after the exchange.
      before.ns += copying_ns(bytes * most * ranks);
      after.ns += copying_ns(bytes * most * ranks);
      return {before, chosen_for(alltoall_demand(map, bytes, largest)), after};
    }
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::scan:
    case Operation::exscan:
      break;
  }
  return {};
}

namespace {

// Returns whether fewer messages between nodes plus copies in each node (gather, two sorts,
// scatter) take less time than a message from each rank to each other rank.
bool is_alltoall_quicker(std::size_t bytes, const NodeMap& map, const Network& network) {
  const int most = map.most_ranks_on_a_node();
  const std::size_t of_node =
      bytes * static_cast<std::size_t>(most) * static_cast<std::size_t>(map.ranks());
  const std::int64_t direct_ns = direct_alltoall_ns(map.ranks(), most, bytes, network);
  const std::int64_t copies_ns = 4 * copying_ns(of_node);
  if (copies_ns >= direct_ns) return false;
  const schedules::Sizes largest = largest_pair(map, bytes);
  return cheapest(alltoall_demand(map, bytes, largest), network).ns + copies_ns < direct_ns;
}

}  // namespace

std::string_view unmeasured_fallback_reason(Operation operation, std::size_t bytes,
                                            const NodeMap& map, const Network& network) {
  if (map.ranks() == 2) return "two ranks on different nodes, for which huddle saves no time";
  if (operation == Operation::alltoall && !is_alltoall_quicker(bytes, map, network)) {
    return "according to generic figures, copies inside the nodes cost more than messages between "
           "them";
  }
  return {};
}

// All leaders send the same amount in each segment, up to one element.
Sent sent_by(const Prediction& prediction) {
  const Chosen& chosen = prediction.between;
  Sent sum;
  std::vector<Sent> by_round;
  schedules::Round round;
  for (std::int64_t number = 0; number < chosen.schedule->rounds(); ++number) {
    // Rounds that are alike send the same bytes if all blocks have the same size, or if each round
    // moves one block of each node.
    const bool are_equal = chosen.schedule->call().shares.are_equal();
    const std::int64_t like = are_equal ? chosen.schedule->like(number) : number;
    Sent sent;
    if (like < number) sent = by_round[static_cast<std::size_t>(like)];
    for (int node = 0; like == number && node < chosen.schedule->ranks(); ++node) {
      chosen.schedule->make(node, number, round);
      for (const schedules::Message& message : round.sends) {
        ++sent.messages;
        sent.bytes += static_cast<std::int64_t>(chosen.sizes.bytes(message.part.blocks));
      }
    }
    by_round.push_back(sent);
    sum.messages += sent.messages;
    sum.bytes += sent.bytes;
  }
  const std::int64_t times = std::int64_t{prediction.sharing.leaders} * prediction.sharing.segments;
  return {sum.messages * times, sum.bytes * times};
}

}  // namespace huddle::internode
