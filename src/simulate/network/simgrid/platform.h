// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The links of a fabric as a SimGrid platform with one host per rank, and the simulations that run
// on it.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/fabric/routes.h"
#include "model/machine/machine.h"
#include "runtime/schedules/schedule.h"
#include "simulate/network/question.h"

namespace huddle::judge {

// SimGrid's clock counts seconds and rounds to fractions of a second, so one of its seconds stands
// for 1 us.
constexpr double ns_a_tick = 1000;

// A question, with the cluster, schedule and placement that it names.
struct Job {
  network::Question question;
  fabric::Cluster cluster;
  std::unique_ptr<schedules::Schedule> schedule;
  std::vector<int> node_of_rank;

  const machine::Network& network() const { return cluster.network; }
  int ranks() const { return schedule->ranks(); }
};

// Returns whether the sender of a message waits for the receiver (rendezvous protocol).
inline bool meets(const machine::Network& network, double bytes) {
  return network.rendezvous_bytes && bytes >= *network.rendezvous_bytes;
}

// Returns the rate of a single message; infinity if it is limited only by links.
inline double own_limit_gb_per_s(const machine::Network& network, double bytes) {
  const double ns = time_at(network.curve, bytes) - time_at(network.curve, 0);
  return ns > 0 ? bytes / ns : std::numeric_limits<double>::infinity();
}

using Pairs = std::set<std::pair<int, int>>;

class Platform {
 public:
  // Creates routes only between `pairs` of ranks. Keeps a reference to `job`.
  Platform(const Job& job, const Pairs& pairs);

  simgrid::s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

 private:
  simgrid::s4u::Link* link(int number);
  void add_route(int from, int to);

  const Job& job_;
  fabric::Routes routes_;
  simgrid::s4u::NetZone* zone_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::map<int, simgrid::s4u::Link*> links_;
  simgrid::s4u::Link* base_ = nullptr;  // latency of a message within one switch
};

// Both simulations return the time in nanoseconds until the last rank has finished.
// Requires: a simgrid::s4u::Engine exists, and the process has not called either function before.
//
// Simulates huddle's schedule; each rank is an actor that sends and receives. Link rates are
// recomputed whenever a message begins or ends. Messages of one NIC share it evenly or, if
// cards_in_order is true, those of later rounds wait for those of earlier rounds, as in huddle's
// model.
double schedule_ns(const Job& job, bool cards_in_order);

// Simulates SMPI's algorithm of the same name (network::smpi_algorithm).
double smpi_ns(const Job& job);

}  // namespace huddle::judge
