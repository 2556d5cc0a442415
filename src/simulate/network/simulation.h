// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Simulates the time of messages between nodes, round by round.
// docs/design/simulation-and-paper-comparison.md describes what is and is not modelled.
//
//   A rank's round   The CPU posts the sends one after the other (cpu_ns each), then handles
//                    arrivals in order (cpu_ns each), then does the local work. Then the rank's
//                    next round begins: no rank waits for all others.
//   A message        It leaves once it is posted, a NIC of the node is free (gap_ns after the
//                    previous message), and from rendezvous_bytes on once its receiver has begun
//                    the round. It arrives after the latency of its route and the time of its
//                    bytes.
//   Bytes            They flow as if all messages of the round began at the same time; links are
//                    shared by max-min fairness (class Flows). A single message is no faster than
//                    the network's curve. A node sends and receives at the same time without loss,
//                    unless a measurement shows that two nodes that exchange data need longer
//                    (both_ways).
//
// The choice of schedules uses the same figures (internode/choice.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/fabric/routes.h"
#include "model/machine/cost.h"
#include "runtime/schedules/schedule.h"

namespace huddle::network {

// The causes that simulated time is attributed to. A Clock contains the causes of its time along
// the critical path: the event that it waited for last, the event that this one waited for, and so
// on.
enum class Cause {
  processor,  // the CPU handles messages
  latency,    // of NICs, cables and switches
  wire,       // transfer of bytes over unshared links
  sharing,    // additional time because links are shared
  card,       // waiting for the node's NIC
  work,       // local copies and reductions
};
inline constexpr std::array<std::string_view, 6> cause_names = {"processor", "latency", "wire",
                                                                "sharing",   "card",    "work"};

struct Clock {
  double ns = 0;
  std::array<double, cause_names.size()> by_cause = {};

  void pass(Cause cause, double more_ns) {
    ns += more_ns;
    by_cause[static_cast<std::size_t>(cause)] += more_ns;
  }
  // Waits until `other`: if that is later, copies its time and its causes.
  void wait_for(const Clock& other) {
    if (other.ns > ns) *this = other;
  }
};

// A message.
struct Sent {
  int from = 0;
  int to = 0;
  double bytes = 0;

  bool operator==(const Sent&) const = default;
};

// Local copies and reductions of a rank after the messages of a round.
struct Worked {
  int rank = 0;
  double bytes = 0;

  bool operator==(const Worked&) const = default;
};

// Messages and local work of all ranks in one round of a schedule.
struct Traffic {
  std::vector<Sent> messages;  // ordered by sender, then as posted
  std::vector<Worked> work;    // by rank, one entry per rank

  bool operator==(const Traffic&) const = default;
};

// Returns the bytes that one rank copies and reduces in its round.
double work_bytes(const schedules::Round& round, double block_bytes);

// Returns the traffic of round `number` with blocks of block_bytes. Throws FailureError if the
// round has more than most_messages: an all-to-all of more than 4,096 ranks in a single round would
// need more memory than most machines have.
inline constexpr std::size_t most_messages = 1 << 24;
Traffic traffic_of(const schedules::Schedule& schedule, std::int64_t number, double block_bytes);

// Flows that begin at the same time, each with the links of its route. Flows share links by max-min
// fairness, which many transports approximate over time: the rate of a flow cannot grow without
// reducing that of a flow that is at most as fast. Rates are bytes per nanosecond (GB/s).
class Flows {
 public:
  // Adds a flow whose rate is at most most_gb_per_s.
  // Requires: bytes > 0, a positive limit, and link numbers that are not negative.
  void add(double bytes, double most_gb_per_s, std::span<const int> links);
  void clear();

  std::size_t count() const { return bytes_.size(); }
  double bytes(std::size_t flow) const { return bytes_[flow]; }
  double most_gb_per_s(std::size_t flow) const { return most_[flow]; }
  std::span<const int> links(std::size_t flow) const {
    return std::span(links_).subspan(first_[flow], first_[flow + 1] - first_[flow]);
  }

 private:
  std::vector<double> bytes_;
  std::vector<double> most_;
  std::vector<std::size_t> first_ = {0};  // index of a flow's first link; one more entry at the end
  std::vector<int> links_;
};

// Value of Share::held_by if a flow is limited by its own maximum and not by a link.
inline constexpr int own_limit = -1;

struct Share {
  double gb_per_s = 0;
  int held_by = own_limit;
};

// Returns the rates of the flows `which` as if there were no others. `capacity` contains the GB/s
// of each link.
std::vector<Share> max_min(const Flows& flows, std::span<const std::size_t> which,
                           std::span<const double> capacity);

// Returns the time at which each flow ends if all begin at 0. The bandwidth of a flow that has
// ended goes to the others.
std::vector<double> through_ns(const Flows& flows, std::span<const double> capacity);

// Totals of the messages whose highest switch has the same height.
struct LevelTraffic {
  double messages = 0;
  double bytes = 0;
};

struct Outcome {
  Clock end;  // of the rank that finishes last
  std::int64_t rounds = 0;
  double messages = 0;
  double bytes = 0;
  std::vector<LevelTraffic> by_height;  // 0: below one switch
  double fullest_link_bytes = 0;
  std::string fullest_link;  // "": no messages
};

// A round with precomputed transfer times. It can be run any number of times. It can be run any
// number of times.
struct SharedRound {
  struct Flight {
    int from = 0;
    int to = 0;
    double latency_ns = 0;
    double wire_ns = 0;     // of its bytes without other messages
    double sharing_ns = 0;  // additional time because of other messages
    bool meets = false;     // rendezvous: waits for the receiver; the sender waits for arrival
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
  std::vector<std::size_t> by_receiver;  // indexes into `flights`
  std::vector<LocalWork> work;
  std::vector<int> ranks;        // ranks that take part, in ascending order
  std::vector<LinkBytes> links;  // links that carry data
  std::vector<LevelTraffic> by_height;
};

class Simulation {
 public:
  // There is one rank per node: rank r is on node_of_rank[r]. Keeps a reference to the cluster.
  Simulation(const fabric::Cluster& cluster, std::vector<int> node_of_rank);

  // Computes the transfer times of the messages of a round.
  SharedRound share_out(const Traffic& traffic) const;
  void run(const SharedRound& round);

  // Returns the time when a rank's next round begins.
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
  double latency_ns_ = 0;         // below one switch, without CPU time
  std::vector<int> node_of_rank_;

  std::vector<Clock> clocks_;         // by rank: start of the next round
  std::vector<Clock> processor_;      // by rank: current time of the CPU within a round
  std::vector<Clock> arrived_;        // by flight, within a round
  std::vector<double> started_ns_;    // by flight, within a round
  std::vector<double> card_free_ns_;  // by rank: when its node's NICs are free

  std::int64_t rounds_ = 0;
  std::vector<double> link_bytes_;
  std::vector<LevelTraffic> by_height_;
};

// Simulates all rounds of a schedule with blocks of block_bytes. Computes link rates once for
// rounds with the same traffic. Throws FailureError if a round has more than most_messages.
Outcome simulate(const fabric::Cluster& cluster, const std::vector<int>& node_of_rank,
                 const schedules::Schedule& schedule, double block_bytes);

}  // namespace huddle::network
