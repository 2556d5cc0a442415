// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/internode_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "model/machine/cost.h"

namespace huddle::internode {
namespace {

// TCP over 10 Gbit/s Ethernet, the slowest network that nodes are expected to have: a latency of 25
// us, 1.25 GB/s, and 3 us between two messages, as in the machine files of Ethernet networks. Half
// of the smaller direction is added, as measured for a ring of whole messages
// (docs/design/inter-node-collectives.md).
constexpr Network generic = {.message_ns = 25'000,
                             .ns_per_mib = 840'000,
                             .is_estimated = 1,
                             .second_way_percent = 50,
                             .gap_ns = 3'000};

constexpr std::size_t mib = std::size_t{1} << 20;

// 5 GB/s, a lower bound for the copy rate of one core.
constexpr std::int64_t copy_ns_per_mib = 210'000;
constexpr std::size_t small = 8;

// Returns the values to try for a parameter of an algorithm: doubled from `first` to `last`, or
// only `first` if the algorithm does not use the parameter.
std::vector<int> doubled(bool is_used, int first, std::int64_t last) {
  std::vector<int> values = {first};
  while (is_used && 2 * std::int64_t{values.back()} <= last) values.push_back(2 * values.back());
  return values;
}

// Messages below this size are not segmented any further.
constexpr std::size_t least_segment_bytes = 1024;

// Returns the sizes of the schedule's blocks. If nodes have blocks of their own, cuts the block of
// each node into the number of blocks that the node contributes.
schedules::Sizes sizes_for(const Demand& demand, const schedules::Schedule& schedule) {
  if (demand.blocks == nullptr) {
    return schedules::Sizes::cut(demand.count, demand.element_bytes, schedule.blocks());
  }
  if (schedule.call().shares.are_equal()) return *demand.blocks;
  std::vector<std::size_t> bytes;
  for (int node = 0; node < demand.nodes; ++node) {
    const std::int64_t count = schedule.own_blocks(node).count;
    const schedules::Sizes cut = schedules::Sizes::cut(demand.blocks->bytes(node), 1, count);
    for (std::int64_t i = 0; i < count; ++i) bytes.push_back(cut.bytes(i));
  }
  return schedules::Sizes::listed(bytes);
}

// Returns shares for which the nodes contribute blocks of about the same size: `blocks` in total,
// or a few more.
schedules::Shares shares_for(const Demand& demand, std::int64_t blocks) {
  const std::size_t all = demand.blocks->offset(demand.nodes);
  const std::size_t of_block = std::max<std::size_t>(1, all / static_cast<std::size_t>(blocks));
  std::vector<std::int64_t> counts;
  for (int node = 0; node < demand.nodes; ++node) {
    const std::size_t count = (demand.blocks->bytes(node) + of_block - 1) / of_block;
    counts.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(count)));
  }
  return schedules::Shares(counts);
}

// Returns the time to move `bytes`. Computed in two steps, because the product of a large size and
// a slow rate may overflow.
std::int64_t moving_ns(std::int64_t bytes, std::int64_t ns_per_mib) {
  constexpr auto unit = static_cast<std::int64_t>(mib);
  return bytes / unit * ns_per_mib + bytes % unit * ns_per_mib / unit;
}

// Returns sum * all / some. Computed in two steps, because the product may overflow.
std::int64_t scaled(std::int64_t sum, std::int64_t all, std::int64_t some) {
  return sum / some * all + sum % some * all / some;
}

std::int64_t bytes_of(const std::vector<schedules::Message>& messages,
                      const schedules::Sizes& sizes) {
  std::int64_t bytes = 0;
  for (const schedules::Message& message : messages) {
    bytes += static_cast<std::int64_t>(sizes.bytes(message.part.blocks));
  }
  return bytes;
}

std::int64_t joined_bytes(const schedules::Round& round, const schedules::Sizes& sizes) {
  std::size_t bytes = 0;
  for (const schedules::Work& work : round.work) {
    if (const auto* const combine = std::get_if<schedules::Combine>(&work))
      bytes += sizes.bytes(combine->blocks);
  }
  return static_cast<std::int64_t>(bytes);
}

// Returns the time of a node's messages in one round, without their bytes. Messages of one
// direction leave or arrive one after the other; the CPU posts its own before it handles those that
// arrive.
std::int64_t messages_ns(const schedules::Round& round, const Network& network) {
  const auto sends = static_cast<std::int64_t>(round.sends.size());
  const auto receives = static_cast<std::int64_t>(round.receives.size());
  const std::int64_t most = std::max(sends, receives);
  if (most == 0) return 0;
  const std::int64_t last_ns =
      network.message_ns + (most - 1) * std::max(network.gap_ns, network.cpu_ns);
  return std::max(last_ns, (sends + receives) * network.cpu_ns);
}

// Returns the size of a transfer in one direction that takes as long as a node's transfers in both
// directions.
std::int64_t moved_bytes(std::int64_t sent, std::int64_t received, const Network& network) {
  const std::int64_t second_way = std::min(sent, received) * network.second_way_percent / 100;
  return std::max(sent, received) + second_way;
}

std::int64_t bytes_ns(const schedules::Round& round, const schedules::Sizes& sizes,
                      const Network& network) {
  const std::int64_t sent = bytes_of(round.sends, sizes);
  const std::int64_t received = bytes_of(round.receives, sizes);
  return moving_ns(moved_bytes(sent, received, network), network.ns_per_mib) +
         moving_ns(joined_bytes(round, sizes), network.combining_ns_per_mib);
}

// Maximum number of nodes and of rounds that a prediction inspects, so that a prediction does not
// delay the call noticeably.
constexpr std::int64_t most_looked_at = 256;

// The figures were measured with few messages per rank in flight, so schedules with more are not
// tried.
constexpr int largest_radix = 16;

// Calls action(number) for evenly spaced numbers below `count`, including 0.
template <typename Action>
void for_each_looked_at(std::int64_t count, const Action& action) {
  const std::int64_t looked_at = std::min(count, most_looked_at);
  for (std::int64_t i = 0; i < looked_at; ++i) action(i * count / looked_at);
}

// Returns the time of the slowest inspected node; nothing if no inspected node sends or receives in
// this round.
std::optional<std::int64_t> round_ns(const schedules::Schedule& schedule, std::int64_t number,
                                     const schedules::Sizes& sizes, const Network& network,
                                     schedules::Round& round) {
  std::int64_t most_ns = 0;
  bool has_messages = false;
  const auto look_at = [&](std::int64_t node) {
    schedule.make(static_cast<int>(node), number, round);
    has_messages = has_messages || !round.sends.empty() || !round.receives.empty();
    most_ns = std::max(most_ns, messages_ns(round, network) + bytes_ns(round, sizes, network));
  };
  for_each_looked_at(schedule.ranks(), look_at);
  look_at(schedule.root());
  if (!has_messages) return std::nullopt;
  return most_ns;
}

// Returns the shares to try: one block per node and, if the nodes' data differ in size, more blocks
// from nodes with more data.
std::vector<schedules::Shares> shares_to_try(const schedules::Algorithm& algorithm,
                                             const Demand& demand) {
  std::vector<schedules::Shares> all = {{}};
  if (!algorithm.uses.shares || demand.blocks == nullptr) return all;
  bool are_equal = true;
  for (int node = 1; node < demand.nodes; ++node) {
    are_equal = are_equal && demand.blocks->bytes(node) == demand.blocks->bytes(0);
  }
  if (are_equal) return all;
  const auto bytes = static_cast<std::int64_t>(demand.blocks->offset(demand.nodes));
  constexpr auto least_bytes = static_cast<std::int64_t>(least_segment_bytes);
  const std::int64_t most = std::min(bytes / least_bytes, most_looked_at);
  for (const int blocks : doubled(demand.nodes <= most, demand.nodes, most)) {
    all.push_back(shares_for(demand, blocks));
  }
  return all;
}

Chosen cheapest_of(const schedules::Algorithm& algorithm, const Demand& demand,
                   const Network& network) {
  Chosen best;
  const auto most_segments =
      static_cast<std::int64_t>(demand.count * demand.element_bytes / least_segment_bytes);
  const auto attempt = [&](const schedules::Call& call) {
    auto schedule = schedules::make_schedule(algorithm, call);
    schedules::Sizes sizes = sizes_for(demand, *schedule);
    const std::int64_t ns = predicted_ns(*schedule, sizes, network);
    if (best.schedule != nullptr && !gains(ns, best.ns)) return;
    best = {std::move(schedule), std::move(sizes), algorithm.name, ns};
  };
  schedules::Call call{.ranks = demand.nodes, .root = demand.root};
  for (const schedules::Shares& shares : shares_to_try(algorithm, demand)) {
    call.shares = shares;
    for (const int radix :
         doubled(algorithm.uses.radix, 2, std::min(demand.nodes, largest_radix))) {
      call.radix = radix;
      for (const int segments : doubled(algorithm.uses.segments, 1, most_segments)) {
        call.segments = segments;
        attempt(call);
      }
    }
  }
  return best;
}

}  // namespace

Network network_of(const machine::Machine& machine) {
  if (machine.networks.empty()) return generic;
  const machine::CostModel model(machine);
  const double message_ns = model.message_ns(small, 0);
  const double more_ns = model.message_ns(mib, 0) - message_ns;
  const machine::Network& first = machine.networks.front();
  Network network = {std::llround(message_ns), std::max<std::int64_t>(1, std::llround(more_ns)),
                     first.origin == machine::Origin::measured ? std::uint8_t{0} : std::uint8_t{1}};
  if (first.both_ways) {
    network.second_way_percent =
        static_cast<std::uint8_t>(std::lround(100 * (*first.both_ways - 1)));
  }
  if (first.piece_bytes) network.piece_bytes = std::llround(*first.piece_bytes);
  // A node uses its network cards in turn.
  network.gap_ns = std::llround(first.gap_ns / first.rails);
  network.cpu_ns = std::llround(first.cpu_ns);
  network.node_ns_per_mib =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(mib) / first.node_gb_per_s));
  const int processor = machine.topology.pus.first();
  const double reduce_ns = model.copy_ns({.bytes = mib, .copier = processor, .peer = processor});
  network.combining_ns_per_mib = std::llround(reduce_ns);
  return network;
}

Network Network::shared_by(int senders) const {
  if (senders == 1) return *this;
  Network shared = *this;
  shared.message_ns += (senders - 1) * gap_ns;
  shared.gap_ns = senders * gap_ns;
  shared.ns_per_mib = std::max(ns_per_mib, senders * node_ns_per_mib);
  return shared;
}

std::int64_t predicted_ns(const schedules::Schedule& schedule, const schedules::Sizes& sizes,
                          const Network& network) {
  std::int64_t sum = 0;
  std::int64_t latest = 0;
  std::map<std::int64_t, std::int64_t> by_round;  // key: the round returned by like()
  schedules::Round round;
  const bool are_all_looked_at = schedule.ranks() <= most_looked_at;
  for_each_looked_at(schedule.rounds(), [&](std::int64_t number) {
    const std::int64_t like = schedule.like(number);
    const auto known = by_round.find(like);
    if (known != by_round.end()) {
      latest = known->second;
    } else {
      // If no inspected node takes part in a round, it is assumed to take as long as the previous
      // one.
      latest =
          round_ns(schedule, like, sizes, network, round).value_or(are_all_looked_at ? 0 : latest);
      by_round.emplace(like, latest);
    }
    sum += latest;
  });
  const std::int64_t looked_at = std::min(schedule.rounds(), most_looked_at);
  return looked_at == 0 ? 0 : scaled(sum, schedule.rounds(), looked_at);
}

std::int64_t direct_alltoall_ns(int ranks, int ranks_on_node, std::size_t bytes,
                                const Network& network) {
  const auto of_round = static_cast<std::int64_t>(bytes) * ranks_on_node;
  const std::int64_t moved = moved_bytes(of_round, of_round, network);
  return (ranks - ranks_on_node) * (network.message_ns + moving_ns(moved, network.ns_per_mib));
}

std::int64_t copying_ns(std::size_t bytes) {
  return moving_ns(static_cast<std::int64_t>(bytes), copy_ns_per_mib);
}

std::string_view ForcedAlgorithms::for_operation(schedules::Operation operation) const {
  const auto first = std::find_if(choices_.begin(), choices_.end(), [&](const ForcedChoice& one) {
    return one.operation == schedules::name(operation);
  });
  return first == choices_.end() ? std::string_view() : std::string_view(first->algorithm);
}

Chosen cheapest(const Demand& demand, const Network& network) {
  Chosen best;
  bool is_as_asked = false;
  for (const schedules::Algorithm& algorithm : schedules::algorithms()) {
    if (algorithm.operation != demand.operation || algorithm.order == schedules::Order::free)
      continue;
    if (algorithm.equal_blocks && !demand.equal_blocks) continue;
    if (is_as_asked && algorithm.name != demand.algorithm) continue;
    Chosen one = cheapest_of(algorithm, demand, network);
    const bool is_first_as_asked = !is_as_asked && algorithm.name == demand.algorithm;
    is_as_asked = is_as_asked || is_first_as_asked;
    // Algorithms are listed simplest first; the simplest of about equal ones is kept.
    const bool is_better = best.schedule == nullptr || gains(one.ns, best.ns);
    if (is_better || is_first_as_asked) best = std::move(one);
  }
  return best;
}

}  // namespace huddle::internode
