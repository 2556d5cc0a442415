// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "simulate/network/simulation.h"

#include <fmt/format.h>
#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

#include "common/error.h"
#include "model/machine/machine.h"

namespace huddle::network {
namespace {

std::int64_t blocks_of(const schedules::Work& work) {
  if (const auto* copy = std::get_if<schedules::Copy>(&work)) return copy->from.blocks.count();
  return std::get<schedules::Combine>(work).blocks.count();
}

}  // namespace

double work_bytes(const schedules::Round& round, double block_bytes) {
  std::int64_t blocks = 0;
  for (const schedules::Work& work : round.work) blocks += blocks_of(work);
  return static_cast<double>(blocks) * block_bytes;
}

Traffic traffic_of(const schedules::Schedule& schedule, std::int64_t number, double block_bytes) {
  Traffic traffic;
  schedules::Round round;
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    const schedules::RoundSpan span = schedule.active(rank);
    if (number < span.first || number >= span.last) continue;
    schedule.make(rank, number, round);
    for (const schedules::Message& message : round.sends) {
      const auto blocks = static_cast<double>(message.part.blocks.count());
      traffic.messages.push_back({rank, message.peer, blocks * block_bytes});
    }
    if (traffic.messages.size() > most_messages) {
      throw FailureError(
          fmt::format("{} ranks send more than {} messages in one round, which is too many to "
                      "simulate: use fewer ranks, or another algorithm",
                      schedule.ranks(), most_messages));
    }
    const double bytes = work_bytes(round, block_bytes);
    if (bytes > 0) traffic.work.push_back({rank, bytes});
  }
  return traffic;
}

namespace {

// Returns the time of a single message in addition to that of an empty one.
double curve_ns(const machine::Network& network, double bytes) {
  return time_at(network.curve, bytes) - time_at(network.curve, 0);
}

// Returns the rate of a single message; practically unlimited if the curve has no time for its
// bytes.
double own_limit_gb_per_s(const machine::Network& network, double bytes) {
  const double ns = curve_ns(network, bytes);
  return ns > 0 ? bytes / ns : std::numeric_limits<double>::max();
}

std::vector<double> capacities(const fabric::Routes& routes) {
  std::vector<double> all;
  for (int link = 0; link < routes.links(); ++link) all.push_back(routes.gb_per_s(link));
  return all;
}

void add_link_bytes(const Flows& flows, std::size_t links, SharedRound& round) {
  std::vector<double> bytes(links, 0);
  for (std::size_t flow = 0; flow < flows.count(); ++flow) {
    for (const int link : flows.links(flow)) {
      bytes[static_cast<std::size_t>(link)] += flows.bytes(flow);
    }
  }
  for (std::size_t link = 0; link < links; ++link) {
    if (bytes[link] > 0) round.links.push_back({static_cast<int>(link), bytes[link]});
  }
}

// The bytes that a node sends and receives in one round.
struct NodeBytes {
  double sent = 0;
  double received = 0;

  // Returns the ratio of the smaller direction to the larger one.
  double overlap() const {
    const double most = std::max(sent, received);
    return most > 0 ? std::min(sent, received) / most : 0;
  }
};

// Extends the messages of nodes that send and receive at the same time, by the amount measured for
// two nodes that exchange messages. A node's two peers may be different nodes.
void add_second_way(double more_than_one_way, const Traffic& traffic, std::size_t ranks,
                    SharedRound& round) {
  std::vector<NodeBytes> bytes(ranks);
  const auto at = [&](int rank) -> NodeBytes& { return bytes[static_cast<std::size_t>(rank)]; };
  for (const Sent& sent : traffic.messages) {
    at(sent.from).sent += sent.bytes;
    at(sent.to).received += sent.bytes;
  }
  for (SharedRound::Flight& flight : round.flights) {
    const double overlap = std::max(at(flight.from).overlap(), at(flight.to).overlap());
    flight.sharing_ns += more_than_one_way * overlap * (flight.wire_ns + flight.sharing_ns);
  }
}

void list_receivers(SharedRound& round) {
  round.by_receiver.resize(round.flights.size());
  std::iota(round.by_receiver.begin(), round.by_receiver.end(), 0);
  std::stable_sort(
      round.by_receiver.begin(), round.by_receiver.end(),
      [&round](std::size_t a, std::size_t b) { return round.flights[a].to < round.flights[b].to; });
}

void list_ranks(SharedRound& round) {
  for (const SharedRound::Flight& flight : round.flights) {
    round.ranks.push_back(flight.from);
    round.ranks.push_back(flight.to);
  }
  for (const SharedRound::LocalWork& work : round.work) round.ranks.push_back(work.rank);
  std::sort(round.ranks.begin(), round.ranks.end());
  round.ranks.erase(std::unique(round.ranks.begin(), round.ranks.end()), round.ranks.end());
}

}  // namespace

Simulation::Simulation(const fabric::Cluster& cluster, std::vector<int> node_of_rank)
    : cluster_(cluster),
      routes_(cluster.fabric, cluster.network),
      cost_(cluster.machine),
      capacity_(capacities(routes_)),
      latency_ns_(time_at(cluster.network.curve, 0) - 2 * cluster.network.cpu_ns),
      node_of_rank_(std::move(node_of_rank)),
      clocks_(node_of_rank_.size()),
      processor_(clocks_.size()),
      card_free_ns_(clocks_.size(), 0),
      link_bytes_(capacity_.size(), 0),
      by_height_(static_cast<std::size_t>(levels(cluster.fabric))) {}

SharedRound::Flight Simulation::flight(const Sent& sent, const fabric::Path& path,
                                       std::span<const int> links) const {
  const machine::Network& network = cluster_.network;
  SharedRound::Flight flight{sent.from, sent.to, latency_ns_ + path.latency_ns, 0, 0, false};
  flight.meets = network.rendezvous_bytes && sent.bytes >= *network.rendezvous_bytes;
  if (sent.bytes == 0) return flight;
  flight.wire_ns = curve_ns(network, sent.bytes);
  for (const int link : links) {
    flight.wire_ns = std::max(flight.wire_ns, sent.bytes / routes_.gb_per_s(link));
  }
  return flight;
}

SharedRound Simulation::share_out(const Traffic& traffic) const {
  SharedRound round;
  round.by_height.resize(by_height_.size());
  Flows flows;
  std::vector<std::size_t> flow_of;  // indexes of the flights with bytes
  std::vector<int> links;
  for (const Sent& sent : traffic.messages) {
    links.clear();
    const fabric::Path path = routes_.path(node_of_rank_[static_cast<std::size_t>(sent.from)],
                                           node_of_rank_[static_cast<std::size_t>(sent.to)], links);
    LevelTraffic& level = round.by_height[static_cast<std::size_t>(path.height)];
    ++level.messages;
    level.bytes += sent.bytes;
    if (sent.bytes > 0) {
      flows.add(sent.bytes, own_limit_gb_per_s(cluster_.network, sent.bytes), links);
      flow_of.push_back(round.flights.size());
    }
    round.flights.push_back(flight(sent, path, links));
  }
  const std::vector<double> through = through_ns(flows, capacity_);
  for (std::size_t flow = 0; flow < through.size(); ++flow) {
    SharedRound::Flight& shared = round.flights[flow_of[flow]];
    shared.sharing_ns = std::max(0.0, through[flow] - shared.wire_ns);
  }
  if (const auto both_ways = cluster_.network.both_ways) {
    add_second_way(*both_ways - 1, traffic, node_of_rank_.size(), round);
  }
  add_link_bytes(flows, capacity_.size(), round);
  list_receivers(round);
  const int pu = cluster_.machine.topology.pus.first();
  for (const Worked& work : traffic.work) {
    round.work.push_back({work.rank, cost_.copy_ns({work.bytes, pu, pu})});
  }
  list_ranks(round);
  return round;
}

void Simulation::run(const SharedRound& round) {
  for (const int rank : round.ranks) at(processor_, rank) = at(clocks_, rank);
  send(round);
  receive(round);
  for (std::size_t i = 0; i < round.flights.size(); ++i) {
    if (round.flights[i].meets) at(processor_, round.flights[i].from).wait_for(arrived_[i]);
  }
  for (const SharedRound::LocalWork& work : round.work) {
    at(processor_, work.rank).pass(Cause::work, work.ns);
  }
  for (const int rank : round.ranks) at(clocks_, rank) = at(processor_, rank);
  ++rounds_;
  for (const SharedRound::LinkBytes& link : round.links) {
    link_bytes_[static_cast<std::size_t>(link.link)] += link.bytes;
  }
  for (std::size_t height = 0; height < by_height_.size(); ++height) {
    by_height_[height].messages += round.by_height[height].messages;
    by_height_[height].bytes += round.by_height[height].bytes;
  }
}

void Simulation::send(const SharedRound& round) {
  const machine::Network& network = cluster_.network;
  const auto rails = static_cast<std::size_t>(network.rails);
  started_ns_.resize(round.flights.size());
  arrived_.resize(round.flights.size());
  std::size_t first = 0;  // first flight of this sender
  double card_free_ns = 0;
  for (std::size_t i = 0; i < round.flights.size(); ++i) {
    const SharedRound::Flight& flight = round.flights[i];
    double& all_sent_ns = card_free_ns_[static_cast<std::size_t>(flight.from)];
    if (i == 0 || flight.from != round.flights[first].from) {
      first = i;
      card_free_ns = all_sent_ns;  // after earlier rounds
    }
    Clock& posted = at(processor_, flight.from);
    posted.pass(Cause::processor, network.cpu_ns);
    Clock& way = arrived_[i] = posted;
    if (flight.meets) way.wait_for(at(clocks_, flight.to));
    // A node uses its NICs in turn.
    double free_ns = card_free_ns;
    if (i >= first + rails) free_ns = started_ns_[i - rails] + network.gap_ns;
    if (free_ns > way.ns) way.pass(Cause::card, free_ns - way.ns);
    started_ns_[i] = way.ns;
    way.pass(Cause::wire, flight.wire_ns);
    way.pass(Cause::sharing, flight.sharing_ns);
    const double gap_ns = rails == 1 ? network.gap_ns : 0;
    all_sent_ns = std::max({all_sent_ns, way.ns, started_ns_[i] + gap_ns});
    way.pass(Cause::latency, flight.latency_ns);
  }
}

// Incoming messages wait until the CPU has posted its own sends, and are then handled in order.
void Simulation::receive(const SharedRound& round) {
  std::vector<std::size_t> in_turn;
  for (std::size_t i = 0; i < round.by_receiver.size();) {
    const int to = round.flights[round.by_receiver[i]].to;
    in_turn.clear();
    for (; i < round.by_receiver.size() && round.flights[round.by_receiver[i]].to == to; ++i) {
      in_turn.push_back(round.by_receiver[i]);
    }
    std::sort(in_turn.begin(), in_turn.end(), [this](std::size_t a, std::size_t b) {
      return arrived_[a].ns < arrived_[b].ns || (arrived_[a].ns == arrived_[b].ns && a < b);
    });
    Clock& processor = at(processor_, to);
    for (const std::size_t flight : in_turn) {
      processor.wait_for(arrived_[flight]);
      processor.pass(Cause::processor, cluster_.network.cpu_ns);
    }
  }
}

Outcome Simulation::outcome() const {
  Outcome outcome;
  for (const Clock& clock : clocks_) outcome.end.wait_for(clock);
  outcome.rounds = rounds_;
  outcome.by_height = by_height_;
  for (const LevelTraffic& level : by_height_) {
    outcome.messages += level.messages;
    outcome.bytes += level.bytes;
  }
  const auto fullest = std::max_element(link_bytes_.begin(), link_bytes_.end());
  if (outcome.bytes > 0) {
    outcome.fullest_link_bytes = *fullest;
    outcome.fullest_link = routes_.name(static_cast<int>(fullest - link_bytes_.begin()));
  }
  return outcome;
}

namespace {

// Number of rounds to keep. Rounds repeat soon or never, and one of 16,384 ranks takes about 1 MB.
constexpr std::size_t kept_rounds = 32;

class Rounds {
 public:
  Rounds(const Simulation& simulation, const schedules::Schedule& schedule, double block_bytes)
      : simulation_(simulation), schedule_(schedule), block_bytes_(block_bytes) {}

  const SharedRound& at(std::int64_t number) {
    const std::int64_t like = schedule_.like(number);
    // The first of several equal rounds is stored separately, because in it ranks may also copy
    // their own data.
    const bool again = number != like;
    for (const Kept& kept : kept_) {
      if (kept.like == like && kept.again == again) return kept.round;
    }
    if (kept_.size() == kept_rounds) kept_.pop_front();
    kept_.push_back(
        {like, again, simulation_.share_out(traffic_of(schedule_, number, block_bytes_))});
    return kept_.back().round;
  }

 private:
  struct Kept {
    std::int64_t like;
    bool again;
    SharedRound round;
  };

  const Simulation& simulation_;
  const schedules::Schedule& schedule_;
  double block_bytes_;
  std::deque<Kept> kept_;
};

}  // namespace

Outcome simulate(const fabric::Cluster& cluster, const std::vector<int>& node_of_rank,
                 const schedules::Schedule& schedule, double block_bytes) {
  Simulation simulation(cluster, node_of_rank);
  Rounds rounds(simulation, schedule, block_bytes);
  for (std::int64_t number = 0; number < schedule.rounds(); ++number) {
    simulation.run(rounds.at(number));
  }
  return simulation.outcome();
}

}  // namespace huddle::network
