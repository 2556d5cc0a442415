// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Messages between nodes in simulated time, round by round. What is modelled, and what is not:
// docs/design/simulation-and-paper-comparison.md.
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

// A moment in simulated time that knows what the time until then went into: of all that had to
// happen before it, what was waited for last, and before that, and so on to the beginning.
enum class Cause {
  processor,  // busy with messages
  latency,    // of cards, cables and switches
  wire,       // bytes on their way, if nobody else used the links
  sharing,    // what that takes longer because others do
  card,       // waiting until the node's card is free
  work,       // local copies and joins
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
  // Waits until that moment; what led there is then what took the time.
  void wait_for(const Clock& other) {
    if (other.ns > ns) *this = other;
  }
};

// What all ranks send and do in one round of a schedule.
struct Sent {
  int from = 0;
  int to = 0;
  double bytes = 0;

  bool operator==(const Sent&) const = default;
};

// Copies and joins after the messages.
struct Worked {
  int rank = 0;
  double bytes = 0;

  bool operator==(const Worked&) const = default;
};

struct Traffic {
  std::vector<Sent> messages;  // by sender, and of one sender in the order in which it posts them
  std::vector<Worked> work;    // by rank, one entry a rank

  bool operator==(const Traffic&) const = default;
};

// The bytes that one rank copies and joins in its round.
double work_bytes(const schedules::Round& round, double block_bytes);

// Round `number` where every block has so many bytes. Throws FailureError where it has more than
// `most_messages`: an all-to-all that sends everything at once among more than 4,096 ranks would
// take more memory than most have.
inline constexpr std::size_t most_messages = 1 << 24;
Traffic traffic_of(const schedules::Schedule& schedule, std::int64_t number, double block_bytes);

// Data that flow through links at the same time, and how they share them: max-min. Nobody's rate
// can grow without taking from someone who has no more, as many transports do over time. A rate is
// bytes a nanosecond (GB/s).

// Messages that begin at the same time, each with the links that it passes.
class Flows {
 public:
  // A flow never gets more than `most_gb_per_s`, whoever else is there. pre: bytes > 0, and the
  // limit is positive; numbers of links are not negative.
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
  std::vector<std::size_t> first_ = {0};  // where a flow's links begin; one more at the end
  std::vector<int> links_;
};

// What holds a flow back: a link, or its own limit.
inline constexpr int own_limit = -1;

struct Share {
  double gb_per_s = 0;
  int held_by = own_limit;
};

// The shares of those flows whose numbers are given, as if there were no others.
// capacity[link]: GB/s.
std::vector<Share> max_min(const Flows& flows, std::span<const std::size_t> which,
                           std::span<const double> capacity);

// When each flow is through, if all begin at 0: as some end, the others take what they leave.
std::vector<double> through_ns(const Flows& flows, std::span<const double> capacity);

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
                 const schedules::Schedule& schedule, double block_bytes);

}  // namespace huddle::network
