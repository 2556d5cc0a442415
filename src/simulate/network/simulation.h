// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Messages between nodes in simulated time, round by round. What is modelled, and what is not:
// docs/records/0027-simulated-networks.md.
//
//   A rank's round   its processor posts the sends one after the other (cpu_ns each), then takes
//                    what comes in the order in which it arrives (cpu_ns each), then does its local
//                    work; then its next round begins. No rank waits for all others.
//   A message        leaves when it is posted, a card of the node is free (gap_ns after the one
//                    before it) and, from rendezvous_bytes on, its receiver has begun the round; it
//                    arrives after the latency of its way and the time its bytes take.
//   Bytes            flow as if all messages of the round began together, links shared by max-min
//                    (flows.h). One alone is no faster than the network's curve. A node that sends
//                    and receives in one round does both at once, unless two nodes that send to
//                    each other were measured to take longer (both_ways).
//
// Schedules are chosen by the same figures (internode/choice.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/fabric/routes.h"
#include "model/machine/cost.h"
#include "simulate/network/clock.h"
#include "simulate/network/traffic.h"

namespace huddle::sim {

// What all messages that join at switches of one height add up to.
struct LevelTraffic {
  double messages = 0;
  double bytes = 0;
};

struct Outcome {
  Clock end;  // of the rank that is ready last
  std::int64_t rounds = 0;
  double messages = 0;
  double bytes = 0;
  std::vector<LevelTraffic> by_height;  // 0: beneath one switch
  double fullest_link_bytes = 0;
  std::string fullest_link;  // "": no message
};

// A round whose links have been shared out: it can be run any number of times.
struct SharedRound {
  struct Flight {
    int from = 0;
    int to = 0;
    double latency_ns = 0;
    double wire_ns = 0;     // of its bytes, alone
    double sharing_ns = 0;  // what they take longer in company
    bool meets = false;     // waits for its receiver, and its sender until it has arrived
  };
  struct LinkBytes {
    int link = 0;
    double bytes = 0;
  };
  struct LocalWork {
    int rank = 0;
    double ns = 0;
  };

  std::vector<Flight> flights;           // by sender
  std::vector<std::size_t> by_receiver;  // numbers of flights
  std::vector<LocalWork> work;
  std::vector<int> ranks;        // that have anything to do, rising
  std::vector<LinkBytes> links;  // that have anything to carry
  std::vector<LevelTraffic> by_height;
};

class Simulation {
 public:
  // One rank a node: rank r on node_of_rank[r]. The cluster has to outlive it.
  Simulation(const fabric::Cluster& cluster, std::vector<int> node_of_rank);

  SharedRound share_out(const Traffic& traffic) const;
  void run(const SharedRound& round);

  // When a rank's next round begins.
  const Clock& clock(int rank) const { return clocks_[static_cast<std::size_t>(rank)]; }
  Outcome outcome() const;

 private:
  SharedRound::Flight flight(const Sent& sent, const fabric::Path& path,
                             std::span<const int> links) const;
  void send(const SharedRound& round);
  void receive(const SharedRound& round);
  Clock& at(std::vector<Clock>& clocks, int rank) const {
    return clocks[static_cast<std::size_t>(rank)];
  }

  const fabric::Cluster& cluster_;
  fabric::Routes routes_;
  machine::CostModel cost_;
  std::vector<double> capacity_;  // of each link
  double latency_ns_ = 0;         // beneath one switch, without the processors' part
  std::vector<int> node_of_rank_;

  std::vector<Clock> clocks_;         // of each rank: its next round begins
  std::vector<Clock> processor_;      // within a round, of each rank: what it does next
  std::vector<Clock> arrived_;        // within a round, of each flight
  std::vector<double> started_ns_;    // within a round, of each flight
  std::vector<double> card_free_ns_;  // of each rank: its node's cards have sent all

  std::int64_t rounds_ = 0;
  std::vector<double> link_bytes_;
  std::vector<LevelTraffic> by_height_;
};

// The whole of a schedule whose blocks all have so many bytes. Rounds with the same traffic are
// shared out once. Throws FailureError where a round has more than `most_messages`.
Outcome simulate(const fabric::Cluster& cluster, const std::vector<int>& node_of_rank,
                 const net::Schedule& schedule, double block_bytes);

}  // namespace huddle::sim
